import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AlertLine, type AlertMessage, LINES_MAX } from '../../../src/delivery/notifications/alert-message.ts';
import { chooseDestinations } from '../../../src/delivery/notifications/choose-destinations.ts';
import { pauseAfter } from '../../../src/delivery/notifications/destination-health.ts';
import { alertMail } from '../../../src/delivery/notifications/email.ts';
import { slackPayload } from '../../../src/delivery/notifications/slack.ts';
import { telegramText } from '../../../src/delivery/notifications/telegram.ts';
import type { AlertRouting } from '../../../src/scanning/campaigns/alert-routing.ts';

const ATTACKS = [
  '<!channel> <@U123> @channel @here @everyone',
  '<https://evil.example|Click here>',
  '*bold* _it_ ~x~ `code` ```',
  '</code></b></a><a href="https://evil.example">x</a>',
  '"><script>alert(1)</script><img src=x onerror=alert(1)>',
  '[link](https://evil.example) зло.рф /start #tag t.me/evil @evil_bot',
  '\u202Egnp.exe \u0000\u0007\r\nBcc: victim@example.com',
  '&'.repeat(400),
  '😀'.repeat(400),
];

const lineOf = (text: string): AlertLine => ({
  ...{ tag: text, severity: 'high', country: 'US', device: text, target: text, landing: text },
  labels: Array.from({ length: 20 }, (_, at): [string, string] => [`label_${at}`, text]),
  link: 'https://adsweep.example/r/token',
  now: '',
});
const messageOf = (lines: AlertLine[], more: Partial<AlertMessage> = {}): AlertMessage => ({
  ...{ campaign: 'Spring', status: 'open', count: lines.length, note: '', picture: null, lines },
  ...more,
});

describe('hostile texts in messages', () => {
  it('§2.8.61 mention nobody, format nothing and link nowhere in Slack, within its documented limits', () => {
    for (const attack of ATTACKS) {
      const lines = Array.from({ length: LINES_MAX }, () => lineOf(attack));
      const picture = { bytes: Buffer.alloc(1), url: 'https://adsweep.example/r/token/picture.jpg' };
      const payload = slackPayload(messageOf(lines, { campaign: attack, count: 5_000, note: attack, picture }));
      const { blocks, text } = payload;
      assert.ok(blocks.length <= 50 && text.length <= 12_100, attack);
      for (const block of blocks) {
        const { type, text: of = null } = block as { type: string; text?: { text: string } };
        if (!of) continue;
        assert.ok(of.text.length >= 1 && of.text.length <= (type === 'header' ? 150 : 3_000), `${type} ${attack}`);
      }
      const written = [text, ...blocks.slice(1).map((block) => JSON.stringify(block))].join('\n');
      const links = [...written.matchAll(/<([^>|]+)\|?[^>]*>/g)].map(([, target]) => target);
      assert.deepEqual(new Set(links), new Set(['https://adsweep.example/r/token']), attack);
      // Outside code, an @ is followed by a character that ends a mention.
      assert.doesNotMatch(text.replaceAll(/`[^`]*`/g, ''), /@(channel|here|everyone|evil)/, attack);
      assert.doesNotMatch(text.replaceAll(/`[^`]*`/g, ''), /https?:\/\/evil/, attack);
    }
  });

  it('§2.8.63 have the picture beside the alert that it shows', () => {
    const picture = { bytes: Buffer.alloc(1), url: 'https://adsweep.example/r/token/picture.jpg' };
    const { blocks } = slackPayload(messageOf([lineOf('one'), lineOf('two')], { picture }));
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['header', 'section', 'image', 'section'],
    );
  });

  it('§2.8.61 are text in the HTML of Telegram, which fits into its limits', () => {
    for (const attack of ATTACKS)
      for (const max of [1_024, 4_096]) {
        const lines = Array.from({ length: LINES_MAX }, () => lineOf(attack));
        const { text, shown } = telegramText(messageOf(lines, { campaign: attack, count: 5_000 }), max);
        assert.ok(text.length <= max, `${text.length} of ${max}: ${attack}`);
        assert.ok(text.includes(`and ${5_000 - shown} more`), attack);
        const tags = [...text.matchAll(/<([^>]*)>/g)].map(([, tag]) => tag!);
        const allowed = /^(\/?b|\/?code|\/a|a href="https:\/\/adsweep\.example\/r\/token")$/;
        assert.ok(
          tags.every((tag) => allowed.test(tag)),
          `${tags.join(' ')}: ${attack}`,
        );
        assert.equal(tags.filter((tag) => tag === 'b').length, tags.filter((tag) => tag === '/b').length);
        assert.doesNotMatch(text.replaceAll(/<code>[^<]*<\/code>/g, ''), /@(channel|evil)|t\.me|#tag/, attack);
      }
  });

  it('§2.8.61 are text in mails, in which no address of a page becomes a link', () => {
    for (const attack of ATTACKS) {
      const mail = alertMail('ops@customer.example', messageOf([lineOf(attack)], { campaign: attack, count: 1 }));
      const tags = [...mail.html.matchAll(/<\/?([a-z0-9!]+)/g)].map(([, tag]) => tag!);
      assert.ok(!tags.some((tag) => ['script', 'iframe', 'img'].includes(tag)), attack);
      const hrefs = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      assert.deepEqual(new Set(hrefs), new Set(['https://adsweep.example/r/token']), attack);
      assert.ok(!/\p{Cc}/u.test(mail.subject) && mail.subject.length < 400, attack);
      assert.doesNotMatch(
        mail.text.replaceAll('https://adsweep.example/r/token', ''),
        /https?:\/\/(?!\u200c)|evil\.example|зло\.рф/,
        attack,
      );
    }
  });
});

describe('the routing of an alert', () => {
  const destination = (_id: string, more: object = {}) => ({
    ...{ _id, is_active: true, is_default_target: true, included_statuses: ['open' as const] },
    ...{ route_label_key: null, route_label_values: [], ...more },
  });
  const all = [
    destination('default'),
    destination('emea', { route_label_key: 'team', route_label_values: ['emea', 'uk'] }),
    destination('region', { route_label_key: 'region', route_label_values: ['emea'] }),
    destination('extra', { is_default_target: false }),
    destination('paused', { is_active: false }),
    destination('closed', { included_statuses: ['resolved'] }),
  ];
  const chosen = (routing: Partial<AlertRouting>, labels: Record<string, string> = {}) =>
    chooseDestinations({ mode: 'inherit', destination_ids: [], routing_label_key: null, ...routing }, all, {
      ...{ status: 'open', labels },
    }).map(({ _id }) => _id);

  it('§2.8.53 inherit is every active default target, override the listed ones, silence nobody', () => {
    assert.deepEqual(chosen({}), ['default', 'emea', 'region']);
    const destination_ids = ['extra', 'paused', 'deleted', 'default'];
    assert.deepEqual(chosen({ mode: 'override', destination_ids }), ['default', 'extra']);
    assert.deepEqual(chosen({ mode: 'override' }), []);
    assert.deepEqual(chosen({ mode: 'silence' }), []);
  });

  it('§2.8.62 by label: those with a fitting value, and where none fits, those without a label key', () => {
    const routing = { routing_label_key: 'team' };
    assert.deepEqual(chosen(routing, { team: 'uk', region: 'emea' }), ['emea']);
    assert.deepEqual(chosen(routing, { team: 'apac' }), ['default']);
    assert.deepEqual(chosen(routing, { region: 'emea' }), ['default']);
    assert.deepEqual(chosen({ ...routing, routing_label_key: 'constructor' }), ['default']);
    const override = { mode: 'override' as const, destination_ids: ['emea', 'extra'], routing_label_key: 'team' };
    assert.deepEqual(chosen(override, { team: 'emea' }), ['emea']);
    assert.deepEqual(chosen(override, { team: 'x' }), ['extra']);
    assert.deepEqual(chosen({ ...override, destination_ids: ['emea'] }, { team: 'x' }), []);
  });
});

it('§2.8.54 the pause after a failure doubles from 5 s to an hour, is shorter by at most half, and heeds Retry-After up to an hour', () => {
  assert.deepEqual(
    [0, 1, 2, 9, 10, 50].map((failures) => pauseAfter(failures, null, 0) / 1_000),
    [5, 10, 20, 2_560, 3_600, 3_600],
  );
  assert.equal(pauseAfter(0, null, 1), 2_500);
  assert.deepEqual([pauseAfter(0, 60_000, 0), pauseAfter(0, 86_400_000, 0)], [60_000, 3_600_000]);
});
