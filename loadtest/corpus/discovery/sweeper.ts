import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Site } from '../../../browser-node/test/support/site.ts';
import { RunningFarm, writeExits } from '../../../infra/farm/test/support/running-farm.ts';
import { until } from '../../../shared/test/support/until.ts';
import type { FoundBlock } from './block-facts.ts';
import { type PublisherPage, urlOf } from './publisher-page.ts';

/** Longer than a sweep with all its ads takes. */
const SWEEP_S = 600;
const FINAL = new Set(['completed', 'partial', 'failed', 'cancelled']);

type Landing = { final_url: string };
type Sweep = {
  id: string;
  status: string;
  error: string;
  ad_blocks: (ListedAdBlock & { scan_id: string | null })[] | null;
  landings: Landing[];
};

/** Sweeps pages with a running farm, by its API, as a client does. */
export class Sweeper {
  readonly #farm: RunningFarm;
  readonly #folder: string;

  constructor(farm: RunningFarm, folder: string) {
    this.#farm = farm;
    this.#folder = folder;
  }

  static async start(site: Site): Promise<Sweeper> {
    const folder = mkdtempSync(join(tmpdir(), 'adsweep-discovery-'));
    const hosts = Object.fromEntries(site.hosts().map((host) => [host, `127.0.0.1:${site.httpsPort}`]));
    const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: writeExits(folder, hosts) });
    try {
      return new Sweeper(await farm.ready(), folder);
    } catch (error) {
      await farm.close();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The ad blocks of a page, each with the domain that its scan's first landing has. Throws if the sweep or one of its scans fails. */
  async find(page: PublisherPage): Promise<FoundBlock[]> {
    const { maxAds, emulator = 'windows_edge' } = page;
    const response = await this.#farm.call('POST', '/api/v1/scans', {
      url: urlOf(page),
      country_code: 'US',
      emulator_id: emulator,
      ad_discovery: true,
      ...(maxAds !== undefined && { max_discovered_ads: maxAds }),
    });
    if (!response.ok) throw new Error(`${page.name}: ${response.status} ${await response.text()}`);
    const { ad_blocks } = await this.#finished(((await response.json()) as Sweep).id);
    return Promise.all((ad_blocks ?? []).map((block) => this.#clicked(block)));
  }

  async #clicked(block: ListedAdBlock & { scan_id: string | null }): Promise<FoundBlock> {
    if (block.scan_id === null) return { ...block, landing: `nothing, ${block.not_scanned}` };
    const { landings } = await this.#finished(block.scan_id);
    const url = landings[0]?.final_url ?? '';
    return { ...block, landing: URL.canParse(url) ? (registrableDomain(url) ?? url) : 'nowhere' };
  }

  /** The scan once it has ended. Throws if it did not complete. */
  async #finished(id: string): Promise<Sweep> {
    const scan = await until(
      `the end of scan ${id}`,
      async () => {
        const read = (await (await this.#farm.call('GET', `/api/v1/scans/${id}`)).json()) as Sweep;
        return FINAL.has(read.status) ? read : null;
      },
      SWEEP_S,
    );
    if (scan.status !== 'completed') throw new Error(`scan ${id} is ${scan.status}: ${scan.error}`);
    return scan;
  }

  async close(): Promise<void> {
    await this.#farm.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
