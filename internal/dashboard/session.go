package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// Bounds of sessions. The oldest one ends when another begins above the limit.
const (
	sessionsMax  = 64
	sessionLife  = 12 * time.Hour
	cookieName   = "anteroom_dashboard"
	homePath     = "/dashboard/" // also the cookie's path: cookies know no port, the site must not see it
	tokenSizeMax = 512
)

// sessions are the signed-in browsers. A cookie is a nonce and a code over nonce and token under a
// key that only this process has: it tells nothing about the token and opens nothing after a
// restart or a sign-out.
type sessions struct {
	key [32]byte

	mu      sync.Mutex
	byNonce map[string]session // guarded by mu
}

type session struct {
	token   string // asked again at each request, so that a revoked token ends its sessions
	expires time.Time
}

func newSessions() *sessions {
	s := &sessions{byNonce: map[string]session{}}
	sys.RandomBytes(s.key[:])
	return s
}

// begin opens a session and gives its cookie's value.
func (s *sessions) begin(now time.Time, token string) string {
	var raw [16]byte
	sys.RandomBytes(raw[:])
	nonce := base64.RawURLEncoding.EncodeToString(raw[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byNonce) >= sessionsMax {
		s.dropOldestLocked()
	}
	s.byNonce[nonce] = session{token: token, expires: now.Add(sessionLife)}
	return nonce + "." + s.code(nonce, token)
}

func (s *sessions) dropOldestLocked() {
	oldest := ""
	for nonce, x := range s.byNonce {
		if oldest == "" || x.expires.Before(s.byNonce[oldest].expires) {
			oldest = nonce
		}
	}
	delete(s.byNonce, oldest)
}

// token gives the token with which the cookie's session began, and whether there is such a session.
func (s *sessions) token(now time.Time, value string) (string, bool) {
	nonce, code, _ := strings.Cut(value, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.byNonce[nonce]
	if ok && !now.Before(x.expires) {
		delete(s.byNonce, nonce)
		ok = false
	}
	if !ok || !hmac.Equal([]byte(code), []byte(s.code(nonce, x.token))) {
		return "", false
	}
	return x.token, true
}

// end forgets the session of a cookie that is genuine.
func (s *sessions) end(now time.Time, value string) {
	if _, ok := s.token(now, value); !ok {
		return
	}
	nonce, _, _ := strings.Cut(value, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byNonce, nonce)
}

func (s *sessions) code(nonce, token string) string {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(nonce + "." + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// sessionCookie is the cookie that carries the value for so long; a negative time removes it.
func sessionCookie(r *http.Request, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure follows the connection: see its line
		Name:     cookieName,
		Value:    value,
		Path:     homePath,
		MaxAge:   int(life / time.Second),
		Secure:   r.TLS != nil, // the admin address is plain HTTP on loopback by default
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}
