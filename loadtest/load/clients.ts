import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { API_KEY } from '../bench/measured-services.ts';

type Json = Record<string, unknown>;

/** A landing of the ad world, quick to scan. */
const PAGE = { url: 'http://quiet.shop.example/', country_code: 'US', emulator_id: 'windows_chrome' };
/** Countries and devices of a campaign; the rest are repeats. */
const [COUNTRIES_MAX, DEVICES] = [20, 25];

/** Organizations that ask for scans and receive their events. */
export class Clients {
  readonly #baseUrl: string;
  readonly #server: http.Server;
  readonly #tenants = new Map<string, { key: string; requested: number; campaign: number }>();
  /** When each scan was requested. */
  readonly #asked = new Map<string, { tenant: string; at: number }>();
  /** When the first endpoint got the event of each scan. */
  readonly #told = new Map<string, number>();
  /** Events by endpoint and scan: an event may arrive twice. */
  readonly #events = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly errors: string[] = [];

  private constructor(baseUrl: string, server: http.Server) {
    this.#baseUrl = baseUrl;
    this.#server = server;
  }

  static async start(baseUrl: string): Promise<Clients> {
    const server = http.createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const clients = new Clients(baseUrl, server);
    server.on('request', (request, response) => clients.#receive(request, response));
    return clients;
  }

  get requested(): number {
    return [...this.#tenants.values()].reduce((sum, { requested, campaign }) => sum + requested + campaign, 0);
  }
  get completed(): number {
    return this.#told.size;
  }
  get delivered(): number {
    return this.#events.size;
  }

  /** Creates an organization with so many endpoints. */
  async join(name: string, endpoints: number): Promise<void> {
    const made = await this.#call(API_KEY, 'POST', '/organizations', { name });
    const limits = { checks_per_month: 1_000_000_000, requests_per_minute: 1_000_000_000 };
    await this.#call(API_KEY, 'PATCH', `/organizations/${made.id}`, limits);
    const key = String(made.api_key);
    this.#tenants.set(name, { key, requested: 0, campaign: 0 });
    const { port } = this.#server.address() as AddressInfo;
    for (let index = 0; index < endpoints; index += 1) {
      const url = `http://127.0.0.1:${port}/${index}`;
      await this.#call(key, 'POST', '/webhooks', { url, event_types: ['scanning.scan.completed'] });
    }
  }

  /** Requests a single scan; its errors are in `errors`. */
  request(name: string): void {
    const tenant = this.#tenants.get(name)!;
    const at = performance.now();
    tenant.requested += 1;
    const work = this.#call(tenant.key, 'POST', '/scans', PAGE)
      .then(({ id }) => void this.#asked.set(String(id), { tenant: name, at }))
      .catch((error: unknown) => void this.errors.push(error instanceof Error ? error.message : String(error)))
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Runs a campaign of so many scans, or a few more: as many in each country on each device. */
  async runCampaign(name: string, scans: number): Promise<void> {
    const tenant = this.#tenants.get(name)!;
    const geos = (await this.#call(tenant.key, 'GET', '/geos')) as unknown as { country_code: string }[];
    const countries = geos.slice(0, COUNTRIES_MAX).map(({ country_code }) => country_code);
    const repeats = Math.ceil(scans / countries.length / DEVICES);
    const { id } = await this.#call(tenant.key, 'POST', '/campaigns', {
      ...{ name: 'Load', url: PAGE.url, repeat_count: repeats, country_codes: countries },
      ...{ emulator_categories: [], emulator_mode: 'all' },
      emulator_specific_ids: EMULATORS.slice(0, DEVICES).map((one) => one.id),
    });
    await this.#call(tenant.key, 'POST', `/campaigns/${id}/run`);
    tenant.campaign = repeats * countries.length * DEVICES;
  }

  /** How many scans of all organizations have one of these statuses. */
  async count(statuses: string): Promise<number> {
    const keys = [...this.#tenants.values()].map(({ key }) => key);
    const pages = await Promise.all(keys.map((key) => this.#call(key, 'GET', `/scans?status=${statuses}&limit=1`)));
    return pages.reduce((sum, { total }) => sum + Number(total), 0);
  }

  /** Seconds from request to event of the single scans of an organization that have completed, in the order of their events. */
  secondsOf(name: string): number[] {
    return [...this.#told].flatMap(([id, at]) => {
      const asked = this.#asked.get(id);
      return asked?.tenant === name ? [(at - asked.at) / 1000] : [];
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #receive(request: http.IncomingMessage, response: http.ServerResponse): void {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      response.writeHead(204).end();
      const { data } = JSON.parse(text) as { data: { scan_id: string; status: string } };
      if (data.status !== 'completed') this.errors.push(`a scan is ${data.status}`);
      this.#events.add(`${request.headers.host}${request.url} ${data.scan_id}`);
      if (request.url === '/0' && !this.#told.has(data.scan_id)) this.#told.set(data.scan_id, performance.now());
    });
  }

  async #call(key: string, method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const answer = await fetch(`${this.#baseUrl}/api/v1${path}`, { ...init, signal: AbortSignal.timeout(20_000) });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Json;
  }
}
