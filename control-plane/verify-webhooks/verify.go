// Checks the signature of a webhook of Adsweep in Go, without modules. Copy it into your package.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// VerifyWebhook returns an error unless one of the signatures of a request is by the secret (the endpoint's, whsec_...), and the request is at
// most five minutes old. header: request.Header.Get. body: its bytes as they arrived.
func VerifyWebhook(secret string, header func(name string) string, body []byte, now time.Time) error {
	id, timestamp := header("webhook-id"), header("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return errors.New("no signature")
	}
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("too old, or the clocks differ")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Fields(header("webhook-signature")) {
		if hmac.Equal([]byte(one), []byte(expected)) {
			return nil
		}
	}
	return errors.New("not signed by this secret")
}
