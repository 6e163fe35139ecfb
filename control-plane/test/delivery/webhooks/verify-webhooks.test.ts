import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newWebhookSecret } from '../../../src/delivery/webhooks/change-endpoint.ts';
import { sampleBody } from '../../../src/delivery/webhooks/event-types.ts';
import { signedHeaders } from '../../../src/delivery/webhooks/send-event.ts';
import { verifyWebhook } from '../../../verify-webhooks/verify.mjs';

const FOLDER = join(import.meta.dirname, '../../../verify-webhooks');
const [SECRET, EARLIER, OTHER] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
const BODY = JSON.stringify({ ...sampleBody('scanning.screenshot.captured'), note: 'Grüße € 🛰' });

type Delivery = { secret: string; headers: Record<string, string>; body: string };

const delivery = (secrets: string[], at = new Date()): Delivery => {
  const headers = signedHeaders('event-1', BODY, secrets, at);
  return { secret: SECRET, headers, body: BODY };
};
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);

/**
 * Deliveries that are signed now, and whether their check succeeds: files that share a process are loaded long before
 * their tests run.
 */
function cases(): Record<string, [Delivery, boolean]> {
  const good = delivery([SECRET]);
  const withHeader = (name: string, value: string): Delivery => ({
    ...good,
    headers: { ...good.headers, [name]: value },
  });
  return {
    'signed by the secret': [good, true],
    'signed by the secret and an earlier one': [delivery([EARLIER, SECRET]), true],
    'signed by another secret': [delivery([OTHER]), false],
    'another body': [{ ...good, body: BODY.replace('€', '$') }, false],
    'another id': [withHeader('webhook-id', 'event-2'), false],
    'another version of signatures': [
      withHeader('webhook-signature', good.headers['webhook-signature']!.replace('v1', 'v2')),
      false,
    ],
    'six minutes old': [delivery([SECRET], inMinutes(-6)), false],
    'six minutes ahead': [delivery([SECRET], inMinutes(6)), false],
    'a timestamp that is no number': [withHeader('webhook-timestamp', 'now'), false],
  };
}

const has = (program: string, argument: string): boolean => spawnSync(program, [argument]).status === 0;
const [PYTHON, GO, OPENSSL] = [has('python3', '--version'), has('go', 'version'), has('openssl', 'version')];

describe('§6.4.35 the checks of a signature that subscribers copy', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'adsweep-verify-'));
  after(() => rmSync(temporary, { recursive: true, force: true }));

  /** Runs a program that reads the cases as JSON and prints the names of those whose check succeeds. */
  function assertJudged(command: string, args: string[]): void {
    const asked = Object.entries(cases());
    const input = JSON.stringify(asked.map(([name, [of]]) => ({ name, ...of })));
    const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const judged = stdout.trim().split('\n');
    assert.deepEqual(
      asked.filter(([name]) => judged.includes(name)).map(([name]) => name),
      asked.filter(([, [, isGood]]) => isGood).map(([name]) => name),
    );
  }

  it('Node.js', () => {
    for (const [name, [{ secret, headers, body }, isGood]] of Object.entries(cases())) {
      const check = () => verifyWebhook(secret, headers, Buffer.from(body));
      if (isGood) assert.deepEqual(check(), JSON.parse(body), name);
      else assert.throws(check, Error, name);
    }
  });

  it('Python', { skip: !PYTHON && 'no python3' }, () => {
    const program = `
import json, sys
sys.path.insert(0, ${JSON.stringify(FOLDER)})
from verify import verify_webhook
for case in json.load(sys.stdin):
    try:
        body = case["body"].encode()
        assert verify_webhook(case["secret"], case["headers"], body) == json.loads(body)
        print(case["name"])
    except ValueError:
        pass
`;
    assertJudged('python3', ['-B', '-c', program]);
  });

  it('Go', { skip: !GO && 'no go' }, () => {
    copyFileSync(join(FOLDER, 'verify.go'), join(temporary, 'verify.go'));
    writeFileSync(
      join(temporary, 'main.go'),
      `package main

import ("encoding/json"; "fmt"; "os"; "time")

func main() {
	var cases []struct { Name, Secret, Body string; Headers map[string]string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	for _, one := range cases {
		header := func(name string) string { return one.Headers[name] }
		if VerifyWebhook(one.Secret, header, []byte(one.Body), time.Now()) == nil { fmt.Println(one.Name) }
	}
}
`,
    );
    const [main, verify, program] = ['main.go', 'verify.go', 'program'].map((name) => join(temporary, name));
    const build = ['build', '-o', program!, main!, verify!];
    const { status, stderr } = spawnSync('go', build, {
      encoding: 'utf8',
      env: { ...process.env, GO111MODULE: 'off' },
    });
    assert.equal(status, 0, stderr);
    assertJudged(program!, []);
  });

  it('openssl', { skip: !OPENSSL && 'no openssl' }, () => {
    const script = join(FOLDER, 'verify.sh');
    const run = ({ secret, body }: Delivery, ...args: string[]) =>
      spawnSync('sh', [script, ...args], {
        input: body,
        encoding: 'utf8',
        env: { ...process.env, WEBHOOK_SECRET: secret },
      });
    for (const [name, [of, isGood]] of Object.entries(cases())) {
      const args = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((header) => of.headers[header]!);
      const { status, stderr } = run(of, ...args);
      assert.equal(status === 0, isGood, `${name}: ${stderr}`);
    }
    const { stdout } = run(delivery([SECRET]), 'sign', 'event-1');
    const [, timestamp = '', signature = ''] = /timestamp=(\S+) signature=(\S+)/.exec(stdout) ?? [];
    const headers = { 'webhook-id': 'event-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    verifyWebhook(SECRET, headers, Buffer.from(BODY));
  });
});
