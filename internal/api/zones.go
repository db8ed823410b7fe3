package api

import (
	"net/http"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// reference names another object.
type reference struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// zoneView is a zone with the published fields that clients read. What a zone of ours does not have
// is empty.
type zoneView struct {
	ID                  string     `json:"id"`
	Name                string     `json:"name"`
	Status              string     `json:"status"`
	Paused              bool       `json:"paused"`
	Type                string     `json:"type"`
	DevelopmentMode     int        `json:"development_mode"`
	NameServers         []string   `json:"name_servers"`
	OriginalNameServers []string   `json:"original_name_servers"`
	Permissions         []string   `json:"permissions"`
	Meta                struct{}   `json:"meta"`
	Owner               reference  `json:"owner"`
	Account             reference  `json:"account"`
	CreatedOn           time.Time  `json:"created_on"`
	ModifiedOn          time.Time  `json:"modified_on"`
	ActivatedOn         *time.Time `json:"activated_on"`
}

// accountView is an account with the published fields.
type accountView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Settings struct {
		EnforceTwofactor bool `json:"enforce_twofactor"`
	} `json:"settings"`
	CreatedOn time.Time `json:"created_on"`
}

func (h *handler) listZones(r *http.Request) (reply, error) {
	now := h.o.Config.Snapshot()
	name, account := r.URL.Query().Get("name"), r.URL.Query().Get("account.id")
	var zones []zoneView
	for _, z := range now.Zones {
		if (name == "" || name == z.Name) && (account == "" || account == z.AccountID) {
			zones = append(zones, viewZone(now, z))
		}
	}
	return paged(r, zones)
}

func (h *handler) getZone(r *http.Request) (reply, error) {
	zone, err := h.zone(r)
	return reply{result: viewZone(h.o.Config.Snapshot(), zone)}, err
}

func viewZone(now *config.Snapshot, z config.Zone) zoneView {
	account, _ := now.Account(z.AccountID) // there is always one
	owner := reference{account.ID, account.Name}
	return zoneView{
		ID: z.ID, Name: z.Name, Status: "active", Type: "full", NameServers: []string{}, OriginalNameServers: []string{},
		Permissions: []string{}, Owner: owner, Account: owner,
		CreatedOn: z.CreatedOn, ModifiedOn: z.CreatedOn, ActivatedOn: &z.CreatedOn,
	}
}

func (h *handler) listAccounts(r *http.Request) (reply, error) {
	name := r.URL.Query().Get("name")
	var accounts []accountView
	for _, a := range h.o.Config.Snapshot().Accounts {
		if name == "" || name == a.Name {
			accounts = append(accounts, viewAccount(a))
		}
	}
	return paged(r, accounts)
}

func (h *handler) getAccount(r *http.Request) (reply, error) {
	account, err := h.account(r)
	return reply{result: viewAccount(account)}, err
}

func viewAccount(a config.Account) accountView {
	return accountView{ID: a.ID, Name: a.Name, Type: "standard", CreatedOn: a.CreatedOn}
}

// zone finds the zone that the path names.
func (h *handler) zone(r *http.Request) (config.Zone, error) {
	zone, ok := h.o.Config.Snapshot().Zone(r.PathValue("zone"))
	if !ok {
		return zone, anteroom.Errorf(anteroom.CodeNoRoute, "there is no such zone").WithHint("GET %s/zones lists the zones", Base)
	}
	return zone, nil
}

// account finds the account that the path names.
func (h *handler) account(r *http.Request) (config.Account, error) {
	account, ok := h.o.Config.Snapshot().Account(r.PathValue("account"))
	if !ok {
		return account, anteroom.Errorf(anteroom.CodeNoRoute, "there is no such account").
			WithHint("GET %s/accounts lists the accounts", Base)
	}
	return account, nil
}

// tokenView is the state of a token.
type tokenView struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (h *handler) verifyToken(r *http.Request) (reply, error) {
	id, err := h.o.Auth.Request(r)
	return reply{
		result:   tokenView{id, "active"},
		messages: []message{{Code: int(anteroom.CodeAuth), Message: "This token is valid and active"}},
	}, err
}
