import type { Natives } from './natives.ts';

/**
 * Runs in the page: tells when it makes the device vibrate, asks for the permission to send notifications or for the whole screen, reads the
 * clipboard or writes to it.
 * Attempts count although the browser refuses them. Each is told twice at most: by itself, and after a click.
 */
export function watchDemands({ precede, isUsers }: Natives, tell: (demand: string, byUser: boolean) => void): void {
  const told = new Set<string>();
  const has = Function.prototype.call.bind(Set.prototype.has, told) as (key: string) => boolean;
  const keep = Function.prototype.call.bind(Set.prototype.add, told);
  const demands = (demand: string) => {
    const byUser = isUsers();
    if (has(demand + byUser)) return;
    keep(demand + byUser);
    tell(demand, byUser);
  };
  /** A pattern of nothing but zeros ends a vibration. */
  const vibrates = (pattern: unknown): boolean => {
    if (typeof pattern !== 'object' || pattern === null) return +(pattern as number) > 0;
    const { length } = pattern as { length: number };
    for (let index = 0; index < length && index < 100; index++)
      if (((pattern as Record<number, number>)[index] as number) > 0) return true;
    return false;
  };
  precede(Navigator.prototype, 'vibrate', (_, pattern) => vibrates(pattern) && demands('vibration'));
  const { Notification: notification, PushManager: push } = window as Partial<typeof globalThis>;
  if (notification) precede(notification, 'requestPermission', () => demands('notifications'));
  if (push) precede(push.prototype, 'subscribe', () => demands('push'));
  const { Clipboard: clipboard } = window as Partial<typeof globalThis>;
  for (const name of ['read', 'readText'])
    if (clipboard) precede(clipboard.prototype, name, () => demands('clipboard_read'));
  for (const name of ['write', 'writeText'])
    if (clipboard) precede(clipboard.prototype, name, () => demands('clipboard_write'));
  const lowerCase = Function.prototype.call.bind(String.prototype.toLowerCase) as (text: string) => string;
  precede(Document.prototype, 'execCommand', (_, command) => {
    const name = typeof command === 'string' ? lowerCase(command) : '';
    if (name === 'paste') demands('clipboard_read');
    if (name === 'copy' || name === 'cut') demands('clipboard_write');
  });
  for (const name of ['requestFullscreen', 'webkitRequestFullscreen', 'webkitRequestFullScreen'])
    precede(Element.prototype, name, () => demands('fullscreen'));
  for (const name of ['webkitEnterFullscreen', 'webkitEnterFullScreen'])
    precede(HTMLVideoElement.prototype, name, () => demands('fullscreen'));
}
