package route

// CanonicalPath is the path that most servers would serve for a raw one.
func CanonicalPath(raw string) string { return raw }
