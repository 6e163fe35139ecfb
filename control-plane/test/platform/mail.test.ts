import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { mailSettings } from '../../src/config.ts';
import { type Mail, type MailSettings, openMailer } from '../../src/platform/mail.ts';
import { MAIL_CERTIFICATE, partsOf, startMailServer } from '../support/mail-server.ts';

const MAIL: Mail = {
  to: ['ops@customer.example'],
  subject: 'Alert: Öffnung',
  text: 'First line\nSecond line',
  html: '<p>First line <img src="cid:shot"></p>',
  pictures: [{ cid: 'shot', filename: 'shot.webp', type: 'image/webp', bytes: Buffer.from('RIFFxxxxWEBP') }],
};

async function server(t: TestContext, options: Parameters<typeof startMailServer>[0] = {}) {
  const started = await startMailServer(options);
  t.after(() => started.stop());
  return started;
}

const mailer = (url: string, more: Partial<MailSettings> = {}) =>
  openMailer({ url, from: 'adsweep@adsweep.example', tls: { ca: MAIL_CERTIFICATE, servername: 'localhost' }, ...more });

describe('a mail', () => {
  it('arrives with text, HTML and its picture, over verified TLS (smtps) and with a password', async (t) => {
    const { port, received } = await server(t, { secure: true, auth: { user: 'adsweep', pass: 'p@ss' } });
    const outcome = await mailer(`smtps://adsweep:p%40ss@localhost:${port}`).send(MAIL);
    assert.deepEqual(outcome, { sent: true, status: 250 });
    const [{ source, ...envelope } = { source: '' }] = received;
    assert.deepEqual(envelope, {
      ...{ from: 'adsweep@adsweep.example', to: MAIL.to, secure: true, user: 'adsweep' },
    });
    const { headers, bodies } = partsOf(source);
    assert.match(headers, /^Subject: =\?UTF-8\?/m);
    assert.match(String(bodies.get('text/plain')), /^First line\r?\nSecond line\s*$/);
    assert.equal(String(bodies.get('text/html')).trim(), MAIL.html);
    assert.deepEqual(bodies.get('image/webp'), MAIL.pictures![0]!.bytes);
  });

  it('is sent over STARTTLS where the server offers it', async (t) => {
    const { port, received } = await server(t);
    assert.equal((await mailer(`smtp://localhost:${port}`).send(MAIL)).sent, true);
    assert.equal(received[0]?.secure, true);
  });

  it('is not sent to a server with an unknown certificate', async (t) => {
    const { port, received } = await server(t, { secure: true });
    const outcome = await mailer(`smtps://localhost:${port}`, { tls: { servername: 'localhost' } }).send(MAIL);
    assert.deepEqual([outcome.sent, outcome.sent || outcome.isPermanent, received.length], [false, false, 0]);
  });

  it('gives no password to a server without TLS', async (t) => {
    let asked = 0;
    const { port } = await server(t, {
      ...{ auth: { user: 'adsweep', pass: 'secret' }, hideSTARTTLS: true, disabledCommands: ['STARTTLS'] },
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => {
        asked += 1;
        done(null, { user: 'adsweep' });
      },
    });
    assert.equal((await mailer(`smtp://adsweep:secret@localhost:${port}`).send(MAIL)).sent, false);
    assert.equal(asked, 0);
  });

  it('that is refused says why in one line; with 5xx for ever, with 4xx for now', async (t) => {
    for (const [status, isPermanent] of [
      [550, true],
      [451, false],
    ] as const)
      for (const refused of ['recipient', 'message'] as const) {
        const { port } = await server(t, { refuse: (what) => (what === refused ? status : null) });
        const outcome = await mailer(`smtp://localhost:${port}`).send(MAIL);
        assert.ok(!outcome.sent);
        assert.deepEqual([outcome.status, outcome.isPermanent], [status, isPermanent], refused);
        assert.match(outcome.reason, new RegExp(`^the mail server refused it: ${status} [^\r\n]+$`));
      }
  });

  it('does not fail for ever when our own access to the server is refused, and does not show why to clients', async (t) => {
    const { port } = await server(t, { auth: { user: 'adsweep', pass: 'right' } });
    const outcome = await mailer(`smtp://adsweep:wrong@localhost:${port}`).send(MAIL);
    assert.ok(!outcome.sent);
    assert.deepEqual(
      [outcome.status, outcome.isPermanent, outcome.reason],
      [535, false, 'the mail server could not be used'],
    );
  });

  it('has a deadline, and ends when it is told to', async (t) => {
    const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const url = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    assert.equal((await mailer(url, { totalMs: 50 }).send(MAIL)).sent, false);
    const told = new AbortController();
    const sending = mailer(url).send(MAIL, told.signal);
    told.abort();
    assert.equal((await sending).sent, false);
    assert.equal((await mailer('smtp://127.0.0.1:9').send(MAIL)).sent, false);
  });

  it('gets no further header or recipient from hostile texts, and no file of ours', async (t) => {
    const { port, received } = await server(t);
    const one = mailer(`smtp://localhost:${port}`);
    const subject = 'Alert\r\nBcc: victim@elsewhere.example\r\n\r\nbody';
    assert.equal((await one.send({ ...MAIL, subject })).sent, true);
    await one.send({ ...MAIL, to: ['a@b.example, victim@elsewhere.example'] });
    await one.send({ ...MAIL, to: ['a@b.example>\r\nRCPT TO:<victim@elsewhere.example'] });
    const { headers } = partsOf(received[0]!.source);
    assert.doesNotMatch(headers, /^Bcc:/m);
    assert.match(headers, /^Subject: Alert Bcc: victim@elsewhere.example body/m);
    assert.ok(
      !received.some(({ to }) => to.includes('victim@elsewhere.example')),
      JSON.stringify(received.map(({ to }) => to)),
    );
  });
});

it('mails are sent by adsweep@ and the host of the public URL, unless the operator names a sender', () => {
  const from = (ADSWEEP_PUBLIC_URL: string, ADSWEEP_MAIL_FROM = '') =>
    mailSettings({ ADSWEEP_SMTP_URL: 'smtp://localhost', ADSWEEP_MAIL_FROM, ADSWEEP_PUBLIC_URL })?.from;
  assert.equal(from('https://scans.example:8443/base'), 'adsweep@scans.example');
  assert.equal(from('http://192.0.2.7'), 'adsweep@[192.0.2.7]');
  assert.equal(from('http://[2001:db8::7]/'), 'adsweep@[IPv6:2001:db8::7]');
  assert.equal(from('https://scans.example', 'ops@mail.example'), 'ops@mail.example');
  assert.equal(mailSettings({ ADSWEEP_SMTP_URL: '', ADSWEEP_MAIL_FROM: '', ADSWEEP_PUBLIC_URL: '' }), null);
});
