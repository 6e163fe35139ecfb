import type { Natives } from './natives.ts';

/**
 * Runs in the page: reports when it makes the device vibrate, requests notifications or fullscreen, or reads or writes
 * the clipboard. Attempts count even if the browser refuses them. Each call is reported at most twice: without a click,
 * and after one.
 */
export function watchUnpromptedCalls(
  { precede, ownValue, hasUserGesture }: Natives,
  send: (call: string, byUser: boolean) => void,
): void {
  const reported = new Set<string>();
  const has = Function.prototype.call.bind(Set.prototype.has, reported) as (key: string) => boolean;
  const keep = Function.prototype.call.bind(Set.prototype.add, reported);
  const report = (call: string) => {
    const byUser = hasUserGesture();
    if (has(call + byUser)) return;
    keep(call + byUser);
    send(call, byUser);
  };
  const isArray = Array.isArray;
  const isTime = (value: unknown) => (typeof value === 'number' || typeof value === 'string') && +value >>> 0 > 0;
  /**
   * Every second number of a pattern is a pause; each is an unsigned integer (Vibration API, 5; Web IDL,
   * `unsigned long`).
   */
  const vibrates = (pattern: unknown): boolean => {
    if (!isArray(pattern)) return isTime(pattern);
    for (let index = 0; index < pattern.length && index < 100; index += 2)
      if (isTime(ownValue(pattern, index))) return true;
    return false;
  };
  precede(Navigator.prototype, 'vibrate', (_, pattern) => vibrates(pattern) && report('vibration'));
  const { Notification: notification, PushManager: push } = window as Partial<typeof globalThis>;
  if (notification) precede(notification, 'requestPermission', () => report('notifications'));
  if (push) precede(push.prototype, 'subscribe', () => report('push'));
  const { Clipboard: clipboard } = window as Partial<typeof globalThis>;
  for (const name of ['read', 'readText'])
    if (clipboard) precede(clipboard.prototype, name, () => report('clipboard_read'));
  for (const name of ['write', 'writeText'])
    if (clipboard) precede(clipboard.prototype, name, () => report('clipboard_write'));
  const lowerCase = Function.prototype.call.bind(String.prototype.toLowerCase) as (text: string) => string;
  precede(Document.prototype, 'execCommand', (_, command) => {
    const name = typeof command === 'string' ? lowerCase(command) : '';
    if (name === 'paste') report('clipboard_read');
    if (name === 'copy' || name === 'cut') report('clipboard_write');
  });
  for (const name of ['requestFullscreen', 'webkitRequestFullscreen', 'webkitRequestFullScreen'])
    precede(Element.prototype, name, () => report('fullscreen'));
  for (const name of ['webkitEnterFullscreen', 'webkitEnterFullScreen'])
    precede(HTMLVideoElement.prototype, name, () => report('fullscreen'));
}
