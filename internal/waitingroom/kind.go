package waitingroom

import "strings"

// Kind is what a client wants, as far as its headers tell. It decides the form of an answer and what
// the request may cause; see the package comment.
type Kind uint8

// The kinds of requests.
const (
	Navigation    Kind = iota // a person looks at a page
	JSONClient                // a program that prefers JSON; it takes part like a navigation
	Background                // a script's own request: fetch, XMLHttpRequest, EventSource, beacon
	Subresource               // an image, a style, a font and the like
	Upgrade                   // a websocket or another protocol on the same connection
	ServiceWorker             // the script of a service worker
	Speculative               // a prefetch or prerender that nobody may ever see
	Preflight                 // CORS asks whether the real request may follow
	WaitEndpoint              // our own endpoint below ReservedPath
)

// String is the kind as a metric's label.
func (k Kind) String() string {
	switch k {
	case Navigation:
		return "navigation"
	case JSONClient:
		return "json"
	case Background:
		return "background"
	case Subresource:
		return "subresource"
	case Upgrade:
		return "upgrade"
	case ServiceWorker:
		return "service_worker"
	case Speculative:
		return "speculative"
	case Preflight:
		return "preflight"
	case WaitEndpoint:
		return "wait"
	}
	return "unknown"
}

// Classify tells a request's kind from its headers. What a browser says about itself in Sec-Fetch
// headers counts more than the rest, because scripts cannot set them.
func Classify(r *Request) Kind {
	switch {
	case r.Method == "OPTIONS" && r.Origin != "" && r.PreflightMethod != "":
		return Preflight
	case speculates(r.Purpose):
		return Speculative
	case strings.EqualFold(r.ServiceWorker, "script"), r.FetchDest == "serviceworker":
		return ServiceWorker
	case upgrades(r):
		return Upgrade
	case r.FetchMode == "navigate":
		return Navigation
	case r.FetchDest != "" || r.FetchMode != "":
		return byDestination(r)
	case strings.EqualFold(r.RequestedWith, "XMLHttpRequest"):
		// Android's web view sends its application's name here, with navigations too.
		return script(r)
	}
	return byAccept(r)
}

// byDestination reads the fetch metadata of a request that is no plain navigation. An unknown
// destination is a sub-resource, because a page in its place would do more harm than an error.
func byDestination(r *Request) Kind {
	switch r.FetchDest {
	case "document", "iframe", "frame", "fencedframe", "embed", "object":
		return Navigation
	case "empty", "":
		return script(r)
	}
	return Subresource
}

// script is the kind of a request that a script made.
func script(r *Request) Kind {
	if readAccept(r.Accept).prefersJSON() {
		return JSONClient
	}
	return Background
}

// byAccept judges clients without fetch metadata: older browsers, command line tools, apps.
func byAccept(r *Request) Kind {
	a := readAccept(r.Accept)
	switch {
	case a.prefersJSON():
		return JSONClient
	case r.Method != "GET" && r.Method != "HEAD" && r.Method != "POST",
		r.Method == "POST" && sendsJSON(r.ContentType), a.events:
		return Background // no link and no form sends it
	case a.takesPage():
		return Navigation
	}
	return Subresource
}

// speculates knows Sec-Purpose ("prefetch;prerender"), the older Purpose ("prefetch", "preview") and
// Firefox's X-Moz.
func speculates(purpose string) bool {
	return purpose != "" && (containsFold(purpose, "prefetch") || containsFold(purpose, "prerender") ||
		containsFold(purpose, "preview"))
}

// upgrades tells that the client wants another protocol. h2c and TLS are offers that a server may
// ignore, and common clients send them with each plain request.
func upgrades(r *Request) bool {
	if r.Upgrade == "" {
		return r.FetchMode == "websocket"
	}
	for token := range strings.SplitSeq(r.Upgrade, ",") {
		token = strings.TrimSpace(token)
		name, _, _ := strings.Cut(token, "/")
		if name != "" && !strings.EqualFold(name, "h2c") && !strings.EqualFold(name, "tls") {
			return true
		}
	}
	return false
}

// sendsJSON tells that the body is JSON, so that a program wrote it: no form can.
func sendsJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return isJSON(strings.TrimSpace(media))
}

// containsFold is strings.Contains without regard to ASCII case; word must be lower case.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
