import http, { type IncomingMessage, type Server } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { TEST_CERTIFICATE } from '../../../infra/demo/test-certificate.ts';

/** What the user name of a request asked the vendor for. */
export type AskedExit = { account: string; country: string; city: string; session: string; authority: string };

/** How the vendor behaves; `status` with `headers` and `text` is its answer to everything. */
export type VendorBehavior = 'works' | 'dies' | 'hangs' | 'hangs_in_body' | VendorAnswer;
type VendorAnswer = { status: number; text?: string; headers?: Record<string, string> };

export type SimulatedVendor = {
  /** `127.0.0.1:port`. */
  address: string;
  asked: AskedExit[];
  behavior: VendorBehavior;
  /** A host that it serves well however it behaves otherwise. */
  spared: string;
  /** `ip:port` by the name that clients ask for; anything else cannot be resolved. */
  hosts: Record<string, string>;
  /** Of a secure one, for `localhost`, as PEM text. */
  certificate: string;
  connections: Set<Socket>;
};

const PASSWORD = 'secret';
const USER_NAME = /^(?<account>[a-z]+-\d+)-cc-(?<country>[a-z]{2})(?:-city-(?<city>[a-z_]+))?(?:-s-(?<session>\w+))?$/;

/**
 * A vendor of exits: a forward proxy that reads the place and the session from the user name, and refuses what it does not have.
 * `inventory` has its countries with their cities, in lower case.
 */
export async function startVendor(
  t: TestContext,
  { inventory = { us: ['austin', 'new_york'] }, isSecure = false }: VendorOptions = {},
): Promise<SimulatedVendor> {
  const server = isSecure ? https.createServer(TEST_CERTIFICATE) : http.createServer();
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => close(server, connections));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const vendor: SimulatedVendor = {
    address,
    asked: [],
    behavior: 'works',
    spared: '',
    hosts: {},
    certificate: TEST_CERTIFICATE.cert,
    connections,
  };
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => client.destroy());
    const isSpared = vendor.spared !== '' && request.url?.startsWith(`${vendor.spared}:`);
    const now = isSpared ? { ...vendor, behavior: 'works' as const } : vendor;
    const refusal = refusalOf(now, request, inventory);
    if (now.behavior === 'dies') client.destroy();
    else if (now.behavior === 'hangs') client.resume();
    else if (refusal) client.end(messageOf(refusal));
    else connectThrough(now, request.url ?? '', client, head);
  });
  return vendor;
}

export type VendorOptions = { inventory?: Record<string, string[]>; isSecure?: boolean };

function refusalOf(
  vendor: SimulatedVendor,
  { headers, url = '' }: IncomingMessage,
  inventory: Record<string, string[]>,
): VendorAnswer | null {
  const basic = headers['proxy-authorization']?.replace(/^Basic /, '') ?? '';
  const [userName = '', password] = Buffer.from(basic, 'base64').toString().split(':');
  const asked = USER_NAME.exec(userName)?.groups;
  if (!asked || password !== PASSWORD) return { status: 407, text: 'wrong user name or password' };
  const { account = '', country = '', city = '', session = '' } = asked;
  vendor.asked.push({ account, country, city, session, authority: url });
  if (typeof vendor.behavior === 'object') return vendor.behavior;
  const cities = inventory[country];
  if (!cities || (city && !cities.includes(city))) return { status: 502, text: 'no such location' };
  return vendor.hosts[url.split(':')[0]!] ? null : { status: 502, text: 'could not resolve the host' };
}

function messageOf({ status, text = '', headers = {} }: VendorAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`;
}

function connectThrough(vendor: SimulatedVendor, authority: string, client: Socket, head: Buffer): void {
  const [host = '', port] = vendor.hosts[authority.split(':')[0]!]!.split(':');
  const target = net.connect(Number(port), host, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    target.write(head);
    client.pipe(target);
    if (vendor.behavior === 'works') target.pipe(client);
    else target.once('data', (chunk: Buffer) => client.write(chunk.subarray(0, chunk.length - 10)));
  });
  target.on('error', () => client.destroy());
  client.on('close', () => target.destroy());
}

async function close(server: Server, connections: Set<Socket>): Promise<void> {
  for (const socket of connections) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}
