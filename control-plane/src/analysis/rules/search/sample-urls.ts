/** Path segments and parameter names that are frequent in URLs of ads and pages. */
const WORDS = [
  'assets',
  'api',
  'banner',
  'c',
  'click',
  'home',
  'images',
  'js',
  'news',
  'p',
  'static',
  'user-sync',
  'v1',
];
const FILES = ['', 'a.html', 'app.js', 'i.gif', 'index.php', 'main.css', 'pic.jpg', 'tag'];
const NAMES = ['a', 'cb', 'gdpr', 'id', 'pid', 'q', 's', 'uid', 'url'];
const CHARACTERS = [
  '0123456789',
  '0123456789abcdef',
  'abcdefghijklmnopqrstuvwxyz',
  'ABCDEFGHIJKLMabcdefghijklm0123456789_-',
];
const LENGTHS = [1, 2, 4, 8, 12, 16, 24, 32, 40, 64];

/** Sample URLs like those that pages request, the same ones at each call. */
export function sampleUrls(count: number): string[] {
  let state = 7;
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % bound;
  };
  const one = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const run = () => {
    const characters = one(CHARACTERS);
    return Array.from({ length: one(LENGTHS) }, () => characters[below(characters.length)]).join('');
  };
  const part = () => (below(2) === 0 ? one(WORDS) : run());
  const times = (most: number, make: () => string) => Array.from({ length: below(most + 1) }, make);
  return Array.from({ length: count }, () => {
    const path = [...times(3, part), one(FILES)].join('/');
    const query = times(4, () => `${one(NAMES)}=${run()}`).join('&');
    return `https://${one(WORDS)}.example${below(90)}.com/${path}${query && `?${query}`}`;
  });
}
