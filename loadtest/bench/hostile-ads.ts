import type { HostileTarget } from './hostile-target.ts';

const BOX = '<div style="width: 300px; height: 250px; background: #c33">ad</div>';
const ad = (name: string, code: string, more: Partial<HostileTarget> = {}): HostileTarget => {
  return {
    name: `an ad that ${name}`,
    channel: 'ads',
    kind: 'ad_tag',
    body: `${BOX}<script>${code}</script>`,
    ...more,
  };
};
const inFrame = (code: string) =>
  `const frame = document.createElement('iframe'); frame.style = 'width: 300px; height: 250px; border: 0'; frame.srcdoc = ${JSON.stringify(`<body style="margin: 0">${BOX}<script>${code}</script>`).replaceAll('</', '<\\/')}; document.body.append(frame)`;
const onPress = `addEventListener('pointerdown', () => { for (;;); })`;
const SPINS = { tags: ['cpu_hog'] };

/** Ad tags that try the same. One that spins has a verdict all the same. */
export const HOSTILE_ADS: readonly HostileTarget[] = [
  ad('spins', 'for (;;);', SPINS),
  ad('spins after a second', 'setTimeout(() => { for (;;); }, 1000)', SPINS),
  ad('spins on pointerdown', onPress, SPINS),
  ad(
    'spins once it is activated',
    'setInterval(() => { if (navigator.userActivation.hasBeenActive) for (;;); }, 20)',
    SPINS,
  ),
  ad('spins on pointerdown in its frame', '', { body: `<script>${inFrame(onPress)}</script>`, ...SPINS }),
  ad(
    'spins when it is measured',
    `Object.defineProperty(Element.prototype, 'getBoundingClientRect', { value() { for (;;); } })`,
  ),
  ad(
    'opens its landing on the first click and spins on the next',
    `document.write('<button>more</button>'); let clicks = 0; addEventListener('click', () => { if (clicks++ > 0) for (;;); open('http://innocent.hostile.example/') })`,
    SPINS,
  ),
  ad('shows alerts on each click', `addEventListener('click', () => { for (;;) alert(1) })`),
  ad(
    'opens tabs without end on a click',
    `addEventListener('click', () => setInterval(() => open('/tab?' + Math.random()), 1))`,
  ),
  ad('removes itself on a click', `addEventListener('pointerdown', () => document.documentElement.remove())`),
  ad('requests without end', `for (;;) fetch('/?' + Math.random()).catch(() => 0)`),
  ad(
    'fills the memory on a click',
    `addEventListener('click', () => { const a = []; for (;;) a.push(new Uint8Array(1e8).fill(1)) })`,
  ),
];
