import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { page, type Reply } from './reply.ts';

/** Every kind of redirect of the ad world, with the kind of hop that a capture should record for it. */
export const WAYS = {
  '301': 'http',
  '302': 'http',
  '303': 'http',
  '307': 'http',
  '308': 'http',
  meta_refresh: 'meta_refresh',
  refresh_header: 'refresh_header',
  script: 'script',
  timer: 'script',
  form_post: 'form',
  form_get: 'form',
  anchor: 'anchor',
} as const satisfies Record<string, HopKind>;

export type Way = keyof typeof WAYS;

const TIMER_MS = 250;

/** The response that redirects a browser to `to` in this way. */
export function redirectBy(way: Way, to: string): Reply {
  const target = JSON.stringify(to);
  switch (way) {
    case 'meta_refresh':
      return interstitial(`<meta http-equiv="refresh" content="0; url=${to}">`);
    case 'refresh_header':
      return withHeaders(interstitial(''), { refresh: `0; url=${to}` });
    case 'script':
      return interstitial(`<script>location.href = ${target};</script>`);
    case 'timer':
      return interstitial(`<script>setTimeout(() => location.replace(${target}), ${TIMER_MS});</script>`);
    case 'form_post':
    case 'form_get':
      return interstitial('', formTo(to, way === 'form_post' ? 'post' : 'get'));
    case 'anchor':
      return interstitial(
        '',
        `<a id="on" href="${to}">Continue</a><script>document.getElementById('on').click();</script>`,
      );
    default:
      return { status: Number(way), headers: { location: to }, body: '' };
  }
}

const interstitial = (head: string, body = ''): Reply => page('One moment', head, `<p>One moment, please.</p>${body}`);

const withHeaders = (reply: Reply, more: Record<string, string>): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...more },
});

function formTo(action: string, method: 'get' | 'post'): string {
  return (
    `<form id="on" action="${action}" method="${method}"><input type="hidden" name="visitor" value="7f3a"></form>` +
    `<script>document.getElementById('on').submit();</script>`
  );
}
