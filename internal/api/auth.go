package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/anteroom/anteroom"
)

// Authenticator knows the tokens of the administration. The dashboard uses it too.
type Authenticator struct {
	tokens []knownToken
}

// knownToken is a token as a hash: comparing hashes takes the same time whatever the token.
type knownToken struct {
	hash [sha256.Size]byte
	id   string
}

// NewAuthenticator accepts these tokens; an empty one is never accepted.
func NewAuthenticator(tokens ...string) *Authenticator {
	a := &Authenticator{}
	for _, token := range tokens {
		if token != "" {
			public := sha256.Sum256([]byte("public id of a token\x00" + token))
			a.tokens = append(a.tokens, knownToken{sha256.Sum256([]byte(token)), hex.EncodeToString(public[:16])})
		}
	}
	return a
}

// Check tells whether a token is known, in time that does not depend on the token, and the public ID
// of the known one.
func (a *Authenticator) Check(token string) (id string, ok bool) {
	hash := sha256.Sum256([]byte(token))
	for _, known := range a.tokens {
		if subtle.ConstantTimeCompare(hash[:], known.hash[:]) == 1 {
			id, ok = known.id, true
		}
	}
	return id, ok
}

// Request checks the Authorization header of a request. The error is an
// anteroom.Error with anteroom.CodeAuth.
func (a *Authenticator) Request(r *http.Request) (id string, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", anteroom.Errorf(anteroom.CodeAuth, "Authentication error").
			WithHint("send the header Authorization: Bearer <token>")
	}
	id, ok := a.Check(token)
	if !ok {
		return "", anteroom.Errorf(anteroom.CodeAuth, "Authentication error").WithHint("this token is not known")
	}
	return id, nil
}
