import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Saves the window of a page where people who look at all pages ask for it: in the folder that `ADSWEEP_TEST_PICTURES` names. */
async function savePicture(page: Page): Promise<void> {
  const folder = process.env.ADSWEEP_TEST_PICTURES;
  if (!folder) return;
  const { pathname, search } = new URL(page.url());
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const name = `${pathname}${search}`.replaceAll(/\W+/g, '-').slice(1, 100);
  await page.screenshot({ path: `${folder}/${name}-${page.viewportSize()?.width}-${isDark ? 'dark' : 'light'}.png` });
}

/**
 * What axe finds in the page, or only in what `within` selects; ids of several elements, boxes that are wider than the window, and how far the page has
 * shifted since it was loaded.
 */
export async function faultsOf(page: Page, within?: string): Promise<string[]> {
  await savePicture(page);
  await page.evaluate(AXE);
  return page.evaluate(async (within) => {
    // @ts-expect-error axe is a global of the page
    const { violations } = await axe.run(within ?? document);
    const found = violations.map(
      ({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`,
    );
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
    const repeated = new Set(ids.filter((id, at) => ids.indexOf(id) !== at));
    const wider = document.documentElement.scrollWidth - innerWidth;
    // What scrolls or clips by itself may have more inside.
    const isClipped = (element: Element): boolean => {
      for (let one: Element | null = element.parentElement; one; one = one.parentElement)
        if (getComputedStyle(one).overflowX !== 'visible') return true;
      return false;
    };
    const outside = [...document.querySelectorAll('main *')].filter((element) => {
      const { right, width } = element.getBoundingClientRect();
      return width > 0 && right > innerWidth + 1 && !isClipped(element);
    });
    const shifts = await new Promise<number>((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(sum), 50);
    });
    return [
      ...found,
      ...[...repeated].map((id) => `several elements have the id ${id}`),
      ...(wider > 0 ? [`${wider} px wider`] : []),
      ...outside.slice(0, 3).map((element) => `outside: ${element.outerHTML.slice(0, 120)}`),
      ...(shifts > 0.01 ? [`shifted by ${shifts}`] : []),
    ];
  }, within);
}
