// Package browser starts a real Chromium for tests of what visitors see. One browser serves all
// tests of a package; each test has a tab with cookies and storage of its own.
//
// The tests beside it check the waiting page against a scripted server. Start reading at [Start].
package browser
