package store

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
)

// tokenBytesMin is the shortest token that a file may hold; anything shorter can be guessed.
const tokenBytesMin = 16

// AdminToken is the bootstrap token of the administration. Fresh tells that this start made it.
func (s *Store) AdminToken() (token string, fresh bool) { return s.token, s.tokenFresh }

// adminToken takes the given token, else that of the file, else it makes one and writes the file.
func adminToken(o Options) (token string, fresh bool, err error) {
	if o.AdminToken != "" {
		return o.AdminToken, false, nil
	}
	var random [24]byte
	sys.RandomBytes(random[:])
	made := "ar_" + base64.RawURLEncoding.EncodeToString(random[:])
	if o.Dir == "" {
		return made, true, nil
	}
	name := filepath.Join(o.Dir, "admin-token")
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return made, true, replaceFile(name, []byte(made+"\n"))
	}
	if err != nil {
		return "", false, anteroom.Errorf(anteroom.CodeUnavailable, "cannot read the admin token: %w", err).
			WithHint("let this user read %s", name)
	}
	if token = strings.TrimSpace(string(data)); len(token) < tokenBytesMin || strings.ContainsAny(token, " \t\r\n") {
		return "", false, anteroom.Errorf(anteroom.CodeInvalid, "the file %s has no usable admin token", name).
			WithHint("remove it for a new one, or write one word of %d characters or more into it", tokenBytesMin)
	}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		o.Logger.Warn("others than the owner may read the admin token", "file", name, "mode", info.Mode().Perm().String())
	}
	return token, false, nil
}
