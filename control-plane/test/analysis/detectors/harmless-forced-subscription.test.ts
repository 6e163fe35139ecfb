import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observed, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 prices and ticked boxes that share words with subscriptions', () => {
  it('words that only contain those of a recurring price are no forced_subscription', () => {
    const ticked = (label: string) => slugsOf({}, [observed('preselected', { label })]);
    const small = (text: string) => slugsOf({}, [observed('price', { text, font_px: 7, contrast: 12, in_page: true })]);
    for (const text of [
      'Tell me about offers under $50',
      'A stand for your TV/monitor for $20',
      'Renewed phones from $99',
      'Скидка в день рождения: 500 ₽',
    ])
      assert.deepEqual([ticked(text), small(text)], [[], []], text);
    for (const text of ['Abo: 5 €', 'Renews at $49', '$9/mo', '9 €/mes', '99 ₽ в день'])
      assert.deepEqual([ticked(text), small(text)], Array(2).fill(['forced_subscription']), text);
  });

  it('a ticked box for mails with a limit or a discount is no forced_subscription', () => {
    const ticked = (label: string) => slugsOf({}, [observed('preselected', { label })]);
    for (const label of [
      'Weekly deals under $10',
      'Send me weekly offers with up to 50 € off',
      'Monatlicher Newsletter mit 5 € Gutschein',
      'Wöchentliche Angebote unter 10 Euro',
      'Offres hebdomadaires: moins de 20 €',
    ])
      assert.deepEqual(ticked(label), [], label);
    for (const label of [
      'Weekly deals for $10',
      'Deals club under $10 a week',
      'Deals club for up to 9.99 € per month',
      'Weekly deals under $10, then $39.90',
      'VIP club, billed weekly, under $10',
    ])
      assert.deepEqual(ticked(label), ['forced_subscription'], label);
  });
});
