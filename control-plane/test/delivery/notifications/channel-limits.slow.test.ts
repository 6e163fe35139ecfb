import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Value } from 'typebox/value';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { type AlertLine, type AlertMessage, LINES_MAX } from '../../../src/delivery/notifications/alert-message.ts';
import { slackPayload } from '../../../src/delivery/notifications/slack.ts';
import { telegramText } from '../../../src/delivery/notifications/telegram.ts';
import { ALERT_STATUSES } from '../../../src/platform/outbox/outbox-entry.ts';
import { SlackMessageSchema } from '../../support/slack-message.ts';
import { readTelegramHtml } from '../../support/telegram-message.ts';

const MESSAGES = 150;
const LINK = 'https://adsweep.example/r/AbCdEfGhIjKlMnOpQrStUv';
const PICTURE = { bytes: Buffer.alloc(1), url: `${LINK}/picture.jpg` };
/** Labels that a destination includes at most, and the longest key and value of one. */
const LABELS_MAX = 20;
const LABEL_KEY = 'k'.repeat(64);

/** Short and long, from one that says nothing to those that are longest when they are escaped. */
const TEXTS = [
  '',
  ' \u200b\u0000 ',
  'Shop',
  'https://shop.example/landing',
  '<!channel> <@U123> <https://evil.example|here>',
  '</code></b><a href="https://evil.example">x</a>',
  '&amp;&lt;&#60;',
  '`'.repeat(2_000),
  '"'.repeat(2_000),
  '&<>"'.repeat(500),
  '*_~`@:|![]()'.repeat(200),
  'x'.repeat(5_000),
  '👩‍👩‍👧‍👦'.repeat(300),
  `${'😀'.repeat(119)}\ud83d`,
  'e\u0301\u0302\u0303'.repeat(500),
  'ﷺ\u202e\u2066'.repeat(300),
];

const random = seededRandom(Number(process.env.ADSWEEP_TEST_SEED ?? 12));
const upTo = (most: number): number => Math.floor(random() * (most + 1));
const anyText = (): string => TEXTS[upTo(TEXTS.length - 1)]!;

function anyLine(): AlertLine {
  return {
    ...{ tag: anyText(), severity: ['', 'low', 'medium', 'high'][upTo(3)]!, country: 'United States of America (US)' },
    ...{ device: anyText(), target: anyText(), landing: anyText(), link: LINK },
    now: random() < 0.5 ? 'resolved' : '',
    labels: Array.from({ length: upTo(LABELS_MAX) }, (_, at): [string, string] => [
      random() < 0.5 ? LABEL_KEY : `l${at}`,
      anyText(),
    ]),
  };
}

function anyMessage(): AlertMessage {
  const lines = Array.from({ length: upTo(LINES_MAX) }, anyLine);
  return {
    ...{ campaign: anyText(), status: ALERT_STATUSES[upTo(ALERT_STATUSES.length - 1)]!, lines },
    ...{ count: lines.length + upTo(1) * upTo(1_000_000), note: random() < 0.3 ? 'This is a test.' : '' },
    picture: random() < 0.5 ? PICTURE : null,
  };
}

/** Short lines, of which as many as there are fit into a message. */
const manyShort: AlertMessage = {
  ...{ campaign: 'Spring', status: 'open', count: LINES_MAX, note: '', picture: null },
  lines: Array.from({ length: LINES_MAX }, () => ({
    ...{ tag: 'Trap', severity: 'high', country: 'DE', device: 'Pixel 8', target: 'https://a.example/' },
    ...{ landing: 'https://evil.example/', labels: [['team', 'emea']], link: LINK, now: '' },
  })),
};
const all = [manyShort, ...Array.from({ length: MESSAGES }, anyMessage)];
const seen = ({ lines: _, picture: __, ...rest }: AlertMessage): string => JSON.stringify(rest).slice(0, 200);

describe('messages of hostile and large texts', () => {
  it('§2.8.64 are valid for the schema of Slack’s blocks', () => {
    for (const message of all) {
      const payload = JSON.parse(JSON.stringify(slackPayload(message)));
      const title: string = payload.blocks[0].text.text;
      const isValid = Value.Check(SlackMessageSchema, payload);
      assert.ok(isValid, `${JSON.stringify(Value.Errors(SlackMessageSchema, payload))} ${seen(message)}`);
      assert.ok(JSON.stringify(payload).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(payload)), seen(message));
      assert.ok(title.includes(`: ${message.status} · ${message.count} alert`), `the title says the status: ${title}`);
    }
  });

  it('§2.8.64 have at most 4,096 characters, or 1,024 as a caption, and 100 entities in Telegram', () => {
    for (const message of all)
      for (const max of [4_096, 1_024]) {
        const { text: html, shown } = telegramText(message, max);
        const { text, entities } = readTelegramHtml(html);
        assert.ok(
          text.trim().length >= 1 && text.length <= max && html.length <= max,
          `${text.length}: ${seen(message)}`,
        );
        assert.ok(html.isWellFormed(), seen(message));
        assert.ok(entities.length <= 100, `${entities.length} entities: ${seen(message)}`);
        const urls = entities.flatMap(({ url }) => url ?? []);
        assert.deepEqual(
          urls,
          Array.from({ length: shown }, () => LINK),
        );
        const left = message.count - shown;
        assert.equal(/and (\d+) more$/.exec(text)?.[1], left > 0 ? String(left) : undefined, seen(message));
      }
    assert.ok(telegramText(manyShort, 4_096).shown >= 14, 'as many lines as have 100 entities');
  });

  it('§2.8.64 that Telegram or Slack would refuse fail the checks of this file', () => {
    for (const html of [
      '<b>x',
      'x</b>',
      '<b><code>x</b></code>',
      'a & b',
      'a < b',
      '<i>x</i>',
      '<a>x</a>',
      '<b href="x">x</b>',
    ])
      assert.throws(() => readTelegramHtml(html), Error, html);
    const header = (text: object) => ({ text: 'x', blocks: [{ type: 'header', text }] });
    for (const payload of [
      header({ type: 'mrkdwn', text: 'x' }),
      header({ type: 'plain_text', text: 'x'.repeat(151) }),
      header({ type: 'plain_text', text: '' }),
      { text: 'x', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3_001) } }] },
      { text: 'x', blocks: [{ type: 'section' }] },
      { text: 'x', blocks: [{ type: 'image', image_url: LINK }] },
      { text: 'x', blocks: Array.from({ length: 51 }, () => header({ type: 'plain_text', text: 'x' }).blocks[0]) },
    ])
      assert.ok(!Value.Check(SlackMessageSchema, payload), JSON.stringify(payload).slice(0, 200));
  });
});
