package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// peer is a server and what is asked of it.
type peer struct {
	name string
	process
	url    string
	header string
	cpu    []float64 // microseconds a request
}

// page measures the waiting page and the JSON poll of a queued visitor, each with a sealed cookie opened and made per
// request, beside nginx serving a file of the page's size; plain and over TLS 1.3 with kept connections.
func page(o options) error {
	cert, key, err := certificate(o.dir)
	if err != nil {
		return err
	}
	fmt.Printf("load average %s%d samples of %d s, %d kept connections; server on processor 0, load on 1\n", loadAverage(), o.rounds, o.seconds, o.connections)
	for _, secure := range []bool{false, true} {
		peers, err := startPeers(o, secure, cert, key)
		if err == nil {
			err = measure(o, peers)
		}
		for i := range peers {
			if i == 0 || peers[i].cmd != peers[0].cmd {
				peers[i].stop()
			}
		}
		if err != nil {
			return err
		}
		report(secure, peers)
	}
	return nil
}

func loadAverage() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first + "; "
}

// startPeers starts the program with a full room and nginx with files of the same sizes.
func startPeers(o options, secure bool, cert, key string) ([]*peer, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	scheme, args := "http", []string{
		"serve", "--origin", "http://127.0.0.1:9", "--total-active-users", "1", "--listen", address,
		"--admin", "127.0.0.1:0", "--data", filepath.Join(o.dir, "page-"+strconv.FormatBool(secure)), "--log-level", "error",
	}
	if secure {
		scheme = "https"
		args = append(args, "--tls-cert", cert, "--tls-key", key)
	}
	ours, err := start("0", o.binary, args...)
	if err != nil {
		return nil, err
	}
	url := scheme + "://" + address + "/"
	html := &peer{name: "anteroom, page", process: *ours, url: url}
	json := &peer{name: "anteroom, JSON poll", process: *ours, url: url}
	if err = waitPort(address); err != nil {
		return []*peer{html}, err
	}
	q, err := queue(url)
	if err != nil {
		return []*peer{html}, err
	}
	html.header = "Cookie: " + q.cookie + "\r\nAccept: text/html"
	json.header = "Cookie: " + q.cookie + "\r\nAccept: application/json"
	static, err := startNginx(o, secure, cert, key, q)
	if err != nil {
		return []*peer{html}, err
	}
	return []*peer{html, json, static[0], static[1]}, nil
}

// queued is a waiting visitor: the cookie, and the answers that it gets.
type queued struct {
	cookie     string
	page, poll []byte
}

// queue takes the only place and then joins the line.
func queue(url string) (q queued, err error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	ask := func(accept string) (*http.Response, []byte, error) {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			return nil, nil, err
		}
		r.Header.Set("Accept", accept)
		if q.cookie != "" {
			r.Header.Set("Cookie", q.cookie)
		}
		resp, err := client.Do(r)
		if err != nil {
			return nil, nil, err
		}
		b, err := io.ReadAll(resp.Body)
		return resp, b, errors.Join(err, resp.Body.Close())
	}
	if _, _, err = ask("text/html"); err != nil {
		return q, err
	}
	resp, _, err := ask("text/html")
	if err != nil {
		return q, err
	}
	if len(resp.Cookies()) == 0 {
		return q, fmt.Errorf("no ticket in a full room, status %d", resp.StatusCode)
	}
	c := resp.Cookies()[0]
	q.cookie = c.Name + "=" + c.Value
	if _, q.page, err = ask("text/html"); err == nil {
		_, q.poll, err = ask("application/json")
	}
	return q, err
}

func startNginx(o options, secure bool, cert, key string, q queued) ([2]*peer, error) {
	var out [2]*peer
	www := filepath.Join(o.dir, "www")
	err := errors.Join(os.MkdirAll(www, 0o755), os.WriteFile(filepath.Join(www, "page.html"), q.page, 0o644),
		os.WriteFile(filepath.Join(www, "poll.json"), q.poll, 0o644))
	if err != nil {
		return out, err
	}
	address, err := freeAddress()
	if err != nil {
		return out, err
	}
	scheme, listen := "http", "listen "+address+";"
	if secure {
		scheme = "https"
		listen = fmt.Sprintf("listen %s ssl; ssl_certificate %s; ssl_certificate_key %s; ssl_protocols TLSv1.3;", address, cert, key)
	}
	conf := fmt.Sprintf(`worker_processes 1; daemon off; master_process off; pid %[1]s/nginx.pid; error_log %[1]s/nginx.err crit;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; sendfile on; tcp_nodelay on; open_file_cache max=10 inactive=600s;
client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
add_header Cache-Control no-store; server { %[2]s root %[3]s; } }`, o.dir, listen, www)
	path := filepath.Join(o.dir, "nginx.conf")
	if err = os.WriteFile(path, []byte(conf), 0o600); err != nil {
		return out, err
	}
	p, err := start("0", "nginx", "-p", o.dir, "-c", path)
	if err != nil {
		return out, err
	}
	out[0] = &peer{name: "nginx, a file as long as the page", process: *p, url: scheme + "://" + address + "/page.html", header: "Accept: text/html"}
	out[1] = &peer{name: "nginx, a file as long as the JSON", process: *p, url: scheme + "://" + address + "/poll.json", header: "Accept: application/json"}
	return out, waitPort(address)
}

// measure takes the samples in turn: A B C A B C.
func measure(o options, peers []*peer) error {
	for range o.rounds {
		for _, p := range peers {
			before, err := p.process.cpu()
			if err != nil {
				return err
			}
			requests, err := wrk(o, p)
			if err != nil {
				return err
			}
			after, err := p.process.cpu()
			if err != nil {
				return err
			}
			p.cpu = append(p.cpu, float64((after-before).Microseconds())/float64(requests))
		}
	}
	return nil
}

// wrk puts load on a peer and returns how many requests were answered.
func wrk(o options, p *peer) (int, error) {
	args := []string{"-c", "1", "wrk", "-t1", "-c" + strconv.Itoa(o.connections), "-d" + strconv.Itoa(o.seconds) + "s"}
	for h := range strings.SplitSeq(p.header, "\r\n") {
		args = append(args, "-H", h)
	}
	out, err := exec.Command("taskset", append(args, p.url)...).CombinedOutput()
	m := regexp.MustCompile(`(\d+) requests in`).FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("wrk on %s: %w: %s", p.name, err, bytes.TrimSpace(out))
	}
	return strconv.Atoi(string(m[1]))
}

// report prints the processor time a request and what one processor could hold at one poll in 20 s.
func report(secure bool, peers []*peer) {
	title := "plain HTTP/1.1"
	if secure {
		title = "HTTP/1.1 over TLS 1.3"
	}
	fmt.Printf("\n%s\n%-36s %22s %8s %20s\n", title, "", "cpu us a request", "ratio", "visitors a core")
	for i, p := range peers {
		mid, low, high := median(p.cpu)
		base, _, _ := median(peers[2+i%2].cpu)
		fmt.Printf("%-36s %7.1f (%5.1f..%5.1f) %8.2f %20.0f\n", p.name, mid, low, high, mid/base, 20e6/mid)
	}
}

// certificate makes a key and a certificate for loopback.
func certificate(dir string) (certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", "", err
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	return certFile, keyFile, errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
}
