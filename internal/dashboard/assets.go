package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"path"
)

//go:embed assets/*.css assets/*.js assets/*.svg templates/*.html
var files embed.FS

// assetAge is long: the page's links carry the asset's hash, another content has another address.
const assetAge = "private, max-age=31536000, immutable"

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	body, err := files.ReadFile("assets/" + name)
	kind := assetType(name)
	if err != nil || kind == "" {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.URL.Query().Get("v") == hashOf(body) {
		w.Header().Set("Cache-Control", assetAge)
	}
	_, _ = w.Write(body) // whoever asked has gone when this fails
}

func assetType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return ""
	}
}

// assetURL is the address of an asset with its hash.
func assetURL(name string) (string, error) {
	body, err := files.ReadFile("assets/" + name)
	if err != nil {
		return "", err
	}
	return "/dashboard/assets/" + name + "?v=" + hashOf(body), nil
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
