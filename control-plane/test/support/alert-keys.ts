import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { raiseAlert } from './alert-doubles.ts';
import type { ConsoleWorld } from './console-world.ts';
import type { RunningApi } from './running-api.ts';

/**
 * What the tests of the keys need of those of the console, whose browser they use. `newPage`: one of a window in which
 * a person has signed in.
 */
export type AlertKeysParts = { api: RunningApi; world: ConsoleWorld; origin: string; newPage: () => Promise<Page> };

/** Tests of the list of alerts by keyboard. `parts`: what there is when they run. */
export function testAlertKeys(parts: () => AlertKeysParts): void {
  /**
   * A campaign of its own with so many alerts, all of the same scan, which has one alert for each entry of a policy
   * set.
   */
  const campaignWith = async (name: string, alerts: number): Promise<string> => {
    const { api, world } = parts();
    const target = { url: 'https://shop.example/', country_codes: ['US'], emulator_specific_ids: ['windows_chrome'] };
    const { id } = (await api.post('/api/v1/campaigns', { name, ...target })).body;
    for (let at = 0; at < alerts; at++)
      await raiseAlert(api, id, {}, { entry_id: `${name} ${at}` }, { scanId: world.page });
    return id;
  };

  test('decides alerts by keyboard, and takes a decision back', async () => {
    const { api, origin, newPage } = parts();
    const page = await newPage();
    const counts = async () => (await api.get('/api/v1/alerts/stats')).body;
    /** The decision is shown, and the page's scripts hear keys. */
    const isTold = async (decision: string) => {
      await page.getByRole('status').filter({ hasText: decision }).waitFor();
      await page.waitForLoadState();
    };
    await page.goto(`${origin}/console/alerts`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await isTold('Resolved');
    assert.partialDeepStrictEqual(await counts(), { open: 2, resolved: 1 });
    await page.keyboard.press('u');
    await isTold('Reopened');
    assert.partialDeepStrictEqual(await counts(), { open: 3, resolved: 0 });
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
    await isTold('Dismissed');
    assert.partialDeepStrictEqual(await counts(), { open: 2, dismissed: 1 });
    await page.keyboard.press('?');
    await page.getByText('next, previous').waitFor();
    await page.goto(`${origin}/console/alerts/all?status=open`);
    await page.getByRole('button', { name: 'Resolve all 2' }).click();
    await page.getByText('Nothing is open').waitFor();
    assert.partialDeepStrictEqual(await counts(), { open: 0, resolved: 2, dismissed: 1 });
    await page.context().close();
  });

  test('decides about one alert only, however long a key is held', async () => {
    const { api, origin, newPage } = parts();
    const campaign = await campaignWith('Held', 3);
    const page = await newPage();
    await page.goto(`${origin}/console/alerts?campaign_id=${campaign}`);
    await page.keyboard.press('j');
    await page.keyboard.down('r');
    await page.getByRole('status').filter({ hasText: 'Resolved' }).waitFor();
    await page.locator('tr[data-current]').waitFor();
    await page.keyboard.down('r');
    await page.keyboard.up('r');
    await page.keyboard.press('d');
    await page.getByRole('status').filter({ hasText: 'Dismissed' }).waitFor();
    const { body } = await api.get(`/api/v1/alerts/stats?campaign_id=${campaign}`);
    assert.partialDeepStrictEqual(body, { open: 1, resolved: 1, dismissed: 1 });
    await page.context().close();
  });

  test('keeps the row of the keyboard, and its focus, when newer alerts arrive', async () => {
    const { api, origin, newPage } = parts();
    const campaign = await campaignWith('Alerted', 2);
    const page = await newPage();
    await page.clock.install();
    await page.goto(`${origin}/console/alerts?campaign_id=${campaign}`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const place = () =>
      page.evaluate(() => [
        document.querySelector('tr[data-current]')?.getAttribute('data-row'),
        document.activeElement?.closest('tr')?.getAttribute('data-row'),
        document.activeElement?.className,
      ]);
    const before = await place();
    assert.equal(before[0], before[1]);
    assert.equal(before[2], 'row-link');
    await raiseAlert(api, campaign);
    await page.clock.runFor(15_000);
    await page.locator('tr[data-row]').nth(2).waitFor();
    assert.deepEqual(await place(), before);
    await page.context().close();
  });

  test('leaves the keys to speech input where a person switches them off, on each page from then on', async () => {
    const { origin, newPage } = parts();
    const campaign = await campaignWith('Spoken', 1);
    const page = await newPage();
    await page.goto(`${origin}/console/alerts?campaign_id=${campaign}`);
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Switch off all keys').check();
    await page.reload();
    await page.keyboard.type('jr');
    assert.equal(await page.locator('tr[data-current]').count(), 0);
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Switch off all keys').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.locator('tr[data-current]').waitFor();
    await page.context().close();
  });
}
