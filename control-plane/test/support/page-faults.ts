import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Saves the window of a page where people who look at all pages ask for it: in the folder that `ADSWEEP_TEST_PICTURES`
 * names.
 */
async function savePicture(page: Page): Promise<void> {
  const folder = process.env.ADSWEEP_TEST_PICTURES;
  if (!folder) return;
  const { pathname, search } = new URL(page.url());
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const name = `${pathname}${search}`.replaceAll(/\W+/g, '-').slice(1, 100);
  await page.screenshot({ path: `${folder}/${name}-${page.viewportSize()?.width}-${isDark ? 'dark' : 'light'}.png` });
}

/**
 * What axe finds in the page, or only in what `within` selects; ids of several elements, and boxes that are wider than
 * the window.
 */
async function faultsAsItIs(page: Page, within?: string): Promise<string[]> {
  await savePicture(page);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
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
    // Spaces that do not break join the parts of a time.
    const broken = [...document.querySelectorAll('time, td .id')].filter(
      (short) => short.getClientRects().length > short.textContent.split(' ').length,
    );
    return [
      ...found,
      ...broken.slice(0, 3).map(({ textContent }) => `broken within a part: ${textContent}`),
      ...[...repeated].map((id) => `several elements have the id ${id}`),
      ...(wider > 0 ? [`${wider} px wider`] : []),
      ...outside.slice(0, 3).map((element) => `outside: ${element.outerHTML.slice(0, 120)}`),
    ];
  }, within);
}

/** How far the page has shifted since it was loaded, if that is too far. */
export async function shiftsOf(page: Page): Promise<string[]> {
  const shifts = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum), 50);
      }),
  );
  return shifts > 0.01 ? [`shifted by ${shifts}`] : [];
}

/** The same, and how far the page has shifted since it was loaded. */
export const faultsOf = async (page: Page): Promise<string[]> => [
  ...(await faultsAsItIs(page)),
  ...(await shiftsOf(page)),
];

/** Widths in pixels, and colours: those of a desk, and those of a phone. */
export const LOOKS = [
  [1440, 'light'],
  [390, 'dark'],
] as const;

/**
 * The faults of a page, or of what `within` selects, in each of the looks; it is left in the last one. It is loaded,
 * and axe with it, once for all of them, which takes as long as finding the faults.
 */
export async function faultsInLooks(
  page: Page,
  looks: readonly (typeof LOOKS)[number][] = LOOKS,
  within?: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    faults.push(...(await faultsAsItIs(page, within)).map((fault) => `${width} pixels, ${colorScheme}: ${fault}`));
  }
  return faults;
}
