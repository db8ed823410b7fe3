package waitingroom_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

const chromeAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8," +
	"application/signed-exchange;v=b3;q=0.7"

func TestClassify(t *testing.T) {
	t.Parallel()
	type request = waitingroom.Request
	for name, test := range map[string]struct {
		request request
		want    waitingroom.Kind
	}{
		"ChromeNavigation":       {request{FetchDest: "document", FetchMode: "navigate", Accept: chromeAccept}, waitingroom.Navigation},
		"ChromeFrame":            {request{FetchDest: "iframe", FetchMode: "navigate", Accept: chromeAccept}, waitingroom.Navigation},
		"ObjectElement":          {request{FetchDest: "object", FetchMode: "no-cors", Accept: "*/*"}, waitingroom.Navigation},
		"EmbedElement":           {request{FetchDest: "embed", FetchMode: "navigate", Accept: "*/*"}, waitingroom.Navigation},
		"NavigateToNowhere":      {request{FetchDest: "empty", FetchMode: "navigate", Accept: "*/*"}, waitingroom.Navigation},
		"FormPost":               {request{Method: "POST", FetchDest: "document", FetchMode: "navigate", Accept: chromeAccept, ContentType: "application/x-www-form-urlencoded"}, waitingroom.Navigation},
		"OldBrowser":             {request{Accept: "text/html, application/xhtml+xml, */*"}, waitingroom.Navigation},
		"OldBrowserForm":         {request{Method: "POST", Accept: "text/html,*/*;q=0.5", ContentType: "text/plain"}, waitingroom.Navigation},
		"Curl":                   {request{Accept: "*/*"}, waitingroom.Navigation},
		"CurlPost":               {request{Method: "POST", Accept: "*/*", ContentType: "application/x-www-form-urlencoded"}, waitingroom.Navigation},
		"NoAccept":               {request{}, waitingroom.Navigation},
		"AnyText":                {request{Accept: "text/*"}, waitingroom.Navigation},
		"WildcardAboveTheRest":   {request{Accept: "image/png;q=0.5, */*"}, waitingroom.Navigation},
		"AndroidWebView":         {request{Accept: chromeAccept, RequestedWith: "com.example.app"}, waitingroom.Navigation},
		"AcceptWithoutEnd":       {request{Accept: ",;q=,text/html;q=2"}, waitingroom.Navigation},
		"NavigationWithAjaxHead": {request{FetchDest: "document", FetchMode: "navigate", RequestedWith: "XMLHttpRequest"}, waitingroom.Navigation},
		"OffersHTTP2":            {request{Upgrade: "h2c", Accept: "text/html"}, waitingroom.Navigation},
		"OffersTLS":              {request{Upgrade: "TLS/1.0, h2c", Accept: "text/html"}, waitingroom.Navigation},

		"JSONExactly":        {request{Accept: "application/json"}, waitingroom.JSONClient},
		"JSONUpperCase":      {request{Accept: "Application/JSON"}, waitingroom.JSONClient},
		"JSONWithParameter":  {request{Accept: "application/json; charset=utf-8"}, waitingroom.JSONClient},
		"Axios":              {request{Accept: "application/json, text/plain, */*"}, waitingroom.JSONClient},
		"AxiosInBrowser":     {request{Accept: "application/json, text/plain, */*", FetchDest: "empty", FetchMode: "cors"}, waitingroom.JSONClient},
		"AxiosOldBrowser":    {request{Accept: "application/json, text/plain, */*", RequestedWith: "XMLHttpRequest"}, waitingroom.JSONClient},
		"JQuery":             {request{Accept: "application/json, text/javascript, */*; q=0.01", RequestedWith: "XMLHttpRequest"}, waitingroom.JSONClient},
		"JSONAboveHTML":      {request{Accept: "text/html;q=0.8, application/json;q=0.9"}, waitingroom.JSONClient},
		"JSONLikeHTML":       {request{Accept: "application/json, text/html"}, waitingroom.JSONClient},
		"LinkedData":         {request{Accept: "application/ld+json"}, waitingroom.JSONClient},
		"JSONPost":           {request{Method: "POST", Accept: "application/json", ContentType: "application/json"}, waitingroom.JSONClient},
		"JSONBelowHTML":      {request{Accept: "text/html, application/json;q=0.9"}, waitingroom.Navigation},
		"JSONRefused":        {request{Accept: "application/json;q=0, text/html"}, waitingroom.Navigation},
		"JSONBelowWildcard":  {request{Accept: "application/json;q=0.5, */*"}, waitingroom.Navigation},
		"JSONInNavigation":   {request{Accept: "application/json", FetchDest: "document", FetchMode: "navigate"}, waitingroom.Navigation},
		"JSONModuleElement":  {request{Accept: "application/json,*/*;q=0.5", FetchDest: "json", FetchMode: "cors"}, waitingroom.Subresource},
		"JSONOnlyAsQuality":  {request{Accept: "application/json;q=0.000"}, waitingroom.Subresource},
		"JSONThirdDecimal":   {request{Accept: "application/json;q=0.001"}, waitingroom.JSONClient},
		"JSONOddQuality":     {request{Accept: "application/json;q=.5, text/html"}, waitingroom.JSONClient},
		"JSONSecondOfHeader": {request{Accept: "image/png, application/json"}, waitingroom.JSONClient},

		"Fetch":            {request{FetchDest: "empty", FetchMode: "cors", Accept: "*/*"}, waitingroom.Background},
		"FetchNoCors":      {request{FetchDest: "empty", FetchMode: "no-cors", Accept: "*/*"}, waitingroom.Background},
		"FetchSameOrigin":  {request{FetchDest: "empty", FetchMode: "same-origin", Accept: "*/*"}, waitingroom.Background},
		"FetchAsksForHTML": {request{FetchDest: "empty", FetchMode: "cors", Accept: "text/html"}, waitingroom.Background},
		"FetchModeOnly":    {request{FetchMode: "cors", Accept: "*/*"}, waitingroom.Background},
		"Ajax":             {request{RequestedWith: "XMLHttpRequest", Accept: "text/html, */*; q=0.01"}, waitingroom.Background},
		"AjaxLowerCase":    {request{RequestedWith: "xmlhttprequest", Accept: "*/*"}, waitingroom.Background},
		"PostsJSON":        {request{Method: "POST", Accept: "*/*", ContentType: "application/json; charset=utf-8"}, waitingroom.Background},
		"PutsJSONDialect":  {request{Method: "PUT", ContentType: "application/vnd.api+json"}, waitingroom.Background},
		"EventSource":      {request{FetchDest: "empty", FetchMode: "cors", Accept: "text/event-stream"}, waitingroom.Background},
		"OldEventSource":   {request{Accept: "text/event-stream"}, waitingroom.Background},
		"Beacon":           {request{Method: "POST", FetchDest: "empty", FetchMode: "no-cors", Accept: "*/*"}, waitingroom.Background},

		"Image":          {request{FetchDest: "image", FetchMode: "no-cors", Accept: "image/avif,image/webp,*/*;q=0.8"}, waitingroom.Subresource},
		"Style":          {request{FetchDest: "style", FetchMode: "no-cors", Accept: "text/css,*/*;q=0.1"}, waitingroom.Subresource},
		"Script":         {request{FetchDest: "script", FetchMode: "no-cors", Accept: "*/*"}, waitingroom.Subresource},
		"Font":           {request{FetchDest: "font", FetchMode: "cors", Accept: "*/*"}, waitingroom.Subresource},
		"Manifest":       {request{FetchDest: "manifest", FetchMode: "cors", Accept: "*/*"}, waitingroom.Subresource},
		"FutureKind":     {request{FetchDest: "hologram", FetchMode: "no-cors", Accept: "*/*"}, waitingroom.Subresource},
		"OldImage":       {request{Accept: "image/webp,*/*"}, waitingroom.Subresource},
		"OldStyle":       {request{Accept: "text/css,*/*;q=0.1"}, waitingroom.Subresource},
		"AnyImage":       {request{Accept: "image/*"}, waitingroom.Subresource},
		"HTMLRefused":    {request{Accept: "text/html;q=0, */*"}, waitingroom.Subresource},
		"NothingAtAll":   {request{Accept: "*/*;q=0"}, waitingroom.Subresource},
		"ProtocolBuffer": {request{Method: "POST", Accept: "application/x-protobuf"}, waitingroom.Subresource},

		"WebSocket":          {request{Upgrade: "websocket"}, waitingroom.Upgrade},
		"WebSocketFirefox":   {request{Upgrade: "websocket", FetchDest: "empty", FetchMode: "websocket"}, waitingroom.Upgrade},
		"WebSocketOverHTTP2": {request{Method: "CONNECT", Upgrade: "websocket"}, waitingroom.Upgrade},
		"WebSocketMode":      {request{FetchDest: "websocket", FetchMode: "websocket"}, waitingroom.Upgrade},
		"OtherProtocol":      {request{Upgrade: "h2c, example/2"}, waitingroom.Upgrade},

		"ServiceWorker":         {request{ServiceWorker: "script", FetchDest: "serviceworker", FetchMode: "same-origin"}, waitingroom.ServiceWorker},
		"ServiceWorkerByHeader": {request{ServiceWorker: "script", Accept: "*/*"}, waitingroom.ServiceWorker},

		"Prefetch":           {request{Purpose: "prefetch", FetchDest: "document", FetchMode: "navigate"}, waitingroom.Speculative},
		"Prerender":          {request{Purpose: "prefetch;prerender", FetchDest: "document", FetchMode: "navigate"}, waitingroom.Speculative},
		"PrefetchOfAnImage":  {request{Purpose: "prefetch", FetchDest: "image"}, waitingroom.Speculative},
		"PrefetchUpperCase":  {request{Purpose: "Prefetch", Accept: "text/html"}, waitingroom.Speculative},
		"Preview":            {request{Purpose: "preview", Accept: "text/html"}, waitingroom.Speculative},
		"SomeOtherPurpose":   {request{Purpose: "fun", Accept: "text/html"}, waitingroom.Navigation},
		"PurposeOfAPrefixed": {request{Purpose: "pre", Accept: "text/html"}, waitingroom.Navigation},

		"Preflight":          {request{Method: "OPTIONS", Origin: "https://a.test", PreflightMethod: "POST", FetchMode: "cors"}, waitingroom.Preflight},
		"OptionsAlone":       {request{Method: "OPTIONS", Accept: "*/*"}, waitingroom.Background},
		"OptionsWithOrigin":  {request{Method: "OPTIONS", Origin: "https://a.test", Accept: "*/*"}, waitingroom.Background},
		"GetLikeAPreflight":  {request{Origin: "https://a.test", PreflightMethod: "POST", Accept: "*/*"}, waitingroom.Navigation},
		"HeadOfACommandLine": {request{Method: "HEAD", Accept: "*/*"}, waitingroom.Navigation},
		"HeadOfAnImage":      {request{Method: "HEAD", Accept: "image/*"}, waitingroom.Subresource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := test.request
			if r.Method == "" {
				r.Method = "GET"
			}
			if got := waitingroom.Classify(&r); got != test.want {
				t.Errorf("%+v is %v, want %v", r, got, test.want)
			}
		})
	}
}

func TestKindsAndOutcomesHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for k := waitingroom.Navigation; k <= waitingroom.WaitEndpoint; k++ {
		seen[k.String()] = true
	}
	if len(seen) != int(waitingroom.WaitEndpoint)+1 || seen["unknown"] {
		t.Errorf("kinds are called %v", seen)
	}
	clear(seen)
	for o := waitingroom.Passed; o <= waitingroom.Faulty; o++ {
		seen[o.String()] = true
	}
	if len(seen) != int(waitingroom.Faulty)+1 || seen["unknown"] {
		t.Errorf("outcomes are called %v", seen)
	}
}
