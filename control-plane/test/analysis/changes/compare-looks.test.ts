import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sharp, { type Sharp } from 'sharp';
import { compareLooks } from '../../../src/analysis/changes/compare-looks.ts';
import { landingSeen } from '../../../src/analysis/changes/landing-seen.ts';
import { pictureHash } from '../../../src/analysis/changes/picture-hash.ts';
import type { Look } from '../../../src/scan/look.ts';

const WHITE = '0000000000000000';
/** A hash in which this many bits are set. */
const bits = (count: number): string => ((1n << BigInt(count)) - 1n).toString(16).padStart(16, '0');

const LANDING = {
  url: 'https://shop.example/a',
  domain: 'shop.example',
  chain: ['t.example', 'shop.example'],
  picture: WHITE,
};
const look = (landing: Partial<typeof LANDING> | null = {}, creative: string | null = null): Look => ({
  landing: landing && { ...LANDING, ...landing },
  creative,
});

describe('§2.5.16 what differs from the last run', () => {
  const CASES: [what: string, now: Look, earlier: Look[], found: string[]][] = [
    ['nothing, on the same landing', look(), [look()], []],
    ['nothing, for another address on the same site', look({ url: 'https://shop.example/b?x=1' }), [look()], []],
    [
      'the domain of the landing and the way to it',
      look({ domain: 'other.example', chain: ['t.example', 'other.example'] }),
      [look()],
      ['landing domain,redirects 0'],
    ],
    ['the way to the landing', look({ chain: ['u.example', 'shop.example'] }), [look()], ['landing redirects 0']],
    ['the picture of the landing', look({ picture: bits(21) }), [look()], ['landing picture 0']],
    ['nothing, for a similar picture of the landing', look({ picture: bits(20) }), [look()], []],
    ['the picture of the creative', look({}, bits(13)), [look({}, WHITE)], ['creative picture 0']],
    ['nothing, for a similar creative', look({}, bits(12)), [look({}, WHITE)], []],
    ['both', look({ picture: bits(40) }, bits(40)), [look({}, WHITE)], ['landing picture 0', 'creative picture 0']],
    [
      'nothing, where one repeat of the last run showed it',
      look({ picture: bits(40) }),
      [look(), look({ picture: bits(40) })],
      [],
    ],
    [
      'what differs from the repeat that is most alike',
      look({ domain: 'o.example', chain: ['o.example'] }),
      [look({ picture: bits(30) }), look({ domain: 'o.example' })],
      ['landing redirects 1'],
    ],
    ['nothing, without an earlier run', look({ picture: bits(40) }, bits(40)), [], []],
    ['nothing, where pictures are missing', look({ picture: null } as never, null), [look({}, WHITE)], []],
    ['nothing, where they were missing', look({}, WHITE), [look({ picture: null } as never, null)], []],
    ['nothing, where a landing is missing', look(null), [look()], []],
    ['nothing, where it was missing', look(), [look(null)], []],
  ];
  for (const [what, now, earlier, found] of CASES)
    it(`is ${what}`, () => {
      const before = earlier.map((one, at) => ({ scan_id: String(at), run_id: 'before', look: one }));
      const changes = compareLooks(now, before);
      assert.deepEqual(
        changes.map((change) => `${change.kind} ${change.what} ${change.previous_scan_id}`),
        found,
      );
      for (const { previous_run_id } of changes) assert.equal(previous_run_id, 'before');
    });

  it('sees similar pictures as one, in another size and encoding, and other pictures as others', async () => {
    const ad = (text: string, price: string, background: string) =>
      sharp(
        Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><rect width="300" height="250" fill="#285"/><text x="20" y="50" font-size="26" fill="#fff">${text}</text><rect x="20" y="80" width="260" height="90" fill="${background}"/><rect x="20" y="190" width="110" height="36" fill="#eee"/><text x="28" y="215" font-size="20">${price}</text></svg>`,
        ),
      );
    const other = sharp(
      Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><radialGradient id="g"><stop stop-color="gold"/><stop offset="1" stop-color="#a00"/></radialGradient><rect width="300" height="250" fill="url(#g)"/><circle cx="150" cy="120" r="60" fill="#fff"/></svg>',
      ),
    );
    const base = await pictureHash(await ad('Fresh shoes', '$ 19', '#fc8').webp().toBuffer());
    assert.match(base, /^[0-9a-f]{16}$/);
    const found = async (picture: Sharp): Promise<number> => {
      const creative = await pictureHash(await picture.toBuffer());
      return compareLooks(look(null, creative), [{ scan_id: 's', run_id: 'r', look: look(null, base) }]).length;
    };
    assert.equal(await found(ad('Fresh shoes', '$ 19', '#fc8').png()), 0, 'the same');
    assert.equal(await found(ad('Fresh shoes', '$ 24', '#fc8').webp()), 0, 'another price');
    assert.equal(await found(ad('Fresh shoes', '$ 19', '#fc8').resize(240).jpeg({ quality: 50 })), 0, 'another size');
    assert.equal(await found(other.webp()), 1, 'another ad');
    assert.notEqual(await pictureHash(await other.webp().toBuffer()), base);
  });

  it('follows the way to the landing by registrable domains, each once in a row', () => {
    const landing = (final_url: string, urls: string[]) =>
      [{ ord: 0, final_url, redirect_chain: urls.map((url) => ({ url })) }] as unknown as Parameters<
        typeof landingSeen
      >[0];
    const urls = ['https://a.t.example/1', 'https://b.t.example/2', 'https://x.co.uk/', 'https://a.t.example/3'];
    assert.deepEqual(landingSeen(landing('https://www.shop.example/', urls))?.chain, [
      ...['t.example', 'x.co.uk', 't.example', 'shop.example'],
    ]);
    assert.equal(landingSeen(landing('about:blank', [])), null);
    assert.equal(landingSeen([]), null);
  });
});
