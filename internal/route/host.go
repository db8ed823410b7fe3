package route

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"github.com/anteroom/anteroom"
)

// Bounds of host names.
const (
	hostMax  = 253
	labelMax = 63
	// unicodeHostMax is the longest host that is put into punycode, in bytes. That takes time in the square of
	// the length, and no longer one would fit into hostMax.
	unicodeHostMax = 4 * hostMax
)

// CanonicalHost is the form in which hosts are compared: lower case, without port, user and dots at the end,
// names in punycode, IPv6 addresses in brackets, in shortest form and without zone. What is no host comes out
// as something that no route has.
func CanonicalHost(host string) string {
	bare := bareHost(host)
	if plainHost(bare) {
		return bare
	}
	if strings.HasPrefix(bare, "[") {
		return strings.ToLower(bare)
	}
	return bareHost(spellHost(host))
}

// bareHost cuts off what is not part of the name, and writes an IPv6 address in one way.
func bareHost(host string) string {
	host = strings.Trim(host, " \t")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	colon := strings.IndexByte(host, ':')
	if colon < 0 {
		return strings.TrimRight(host, ".")
	}
	inner := host
	if host[0] == '[' {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return host
		}
		inner, host = host[1:end], host[:end+1]
	}
	inner, _, _ = strings.Cut(inner, "%")
	if ip, err := netip.ParseAddr(inner); err == nil {
		return "[" + ip.String() + "]"
	}
	if host[0] == '[' {
		return host
	}
	return strings.TrimRight(host[:colon], ".")
}

// plainHost tells a name in its final form.
func plainHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// spellHost undoes escapes, puts Unicode names into punycode, and letters into lower case.
func spellHost(host string) string {
	host = string(decode(nil, host))
	if !ascii(host) && len(host) <= unicodeHostMax {
		// Lenient on purpose: which names may be registered is not our business.
		profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))
		if name, err := profile.ToASCII(host); err == nil {
			host = name
		}
	}
	return strings.ToLower(host)
}

// checkHost gives the canonical host of a route.
func checkHost(host string) (string, *anteroom.Error) {
	if host == anteroom.AnyHost {
		return host, nil
	}
	bad := func(why string) (string, *anteroom.Error) {
		return "", anteroom.Errorf(anteroom.CodeInvalid, "%q %s", host, why).At("host").
			WithHint(`write a name such as "shop.example.com", an address, or "*" for every host`)
	}
	if host == "" {
		return bad("is empty")
	}
	if i := strings.IndexAny(host, " \t/\\@%?#*"); i >= 0 {
		return bad("is no host name")
	}
	name := CanonicalHost(host)
	if strings.HasPrefix(name, "[") {
		if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err != nil || !strings.HasSuffix(name, "]") {
			return bad("is no address")
		}
		if strings.HasPrefix(host, "[") && !strings.HasSuffix(host, "]") {
			return bad("has a port, and routes hold for every port")
		}
		return name, nil
	}
	if strings.Contains(host, ":") {
		return bad("has a port, and routes hold for every port")
	}
	if !plainHost(name) || len(name) > hostMax {
		return bad("is no host name")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > labelMax {
			return bad("has an empty or too long part")
		}
	}
	return name, nil
}
