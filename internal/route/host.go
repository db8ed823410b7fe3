package route

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/anteroom/anteroom"
)

// Bounds of host names in bytes. hostMax also holds for names that are not in punycode yet: making it takes time
// in the square of the length.
const (
	hostMax  = 253
	labelMax = 63
)

// noHost stands for everything that cannot be a host.
const noHost = "!"

// CanonicalHost is the form in which hosts are compared: lower case, without port, user and dots at the end,
// names in punycode, IPv6 addresses in brackets, in shortest form and without zone. [anteroom.AnyHost] and the
// empty host stay as they are; what cannot be a host becomes "!", which no route has.
func CanonicalHost(host string) string {
	bare := bareHost(host)
	if plainHost(bare) || isAddress(bare) || bare == anteroom.AnyHost {
		return bare
	}
	bare = bareHost(spellHost(host))
	if plainHost(bare) || isAddress(bare) {
		return bare
	}
	return noHost
}

// bareHost cuts off what is not part of the name, and writes an IPv6 address in one way.
func bareHost(host string) string {
	host = strings.Trim(host, " \t")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if strings.HasPrefix(host, "[") {
		inner, _, _ := strings.Cut(host[1:], "]")
		return address(inner)
	}
	name, port, _ := strings.Cut(host, ":")
	if strings.Contains(port, ":") {
		if ip := address(host); ip != noHost {
			return ip
		}
	}
	return strings.TrimRight(name, ".")
}

// address writes an address in brackets and drops its zone.
func address(text string) string {
	text, _, _ = strings.Cut(text, "%")
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return noHost
	}
	return "[" + ip.String() + "]"
}

// isAddress tells what address made.
func isAddress(bare string) bool { return strings.HasPrefix(bare, "[") }

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
	if !ascii(host) && len(host) <= hostMax && utf8.ValidString(host) {
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
	switch {
	case isAddress(name) && strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]"):
		return bad("is more than an address; routes hold for every port")
	case isAddress(name):
		return name, nil
	case !plainHost(name) || len(name) > hostMax:
		return bad("is no host name")
	case strings.Contains(host, ":"):
		return bad("has a port; routes hold for every port")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > labelMax {
			return bad("has an empty or too long part")
		}
	}
	return name, nil
}
