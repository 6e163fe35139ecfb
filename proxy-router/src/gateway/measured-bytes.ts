import type { RouterMetrics } from '../metrics.ts';
import type { Exit } from '../providers/exit.ts';

/**
 * Bytes that are summed up before the metrics are updated: an update for each chunk would cost as much as forwarding
 * it.
 */
const PENDING_MAX = 1_000_000;

/** Updates the metrics with the bytes of one connection through an exit. */
export class MeasuredBytes {
  readonly #metrics: RouterMetrics;
  readonly #exit: Exit;
  #sent = 0;
  #received = 0;

  constructor(metrics: RouterMetrics, exit: Exit) {
    this.#metrics = metrics;
    this.#exit = exit;
  }

  add(sent: number, received: number): void {
    this.#sent += sent;
    this.#received += received;
    if (this.#sent + this.#received >= PENDING_MAX) this.flush();
  }

  flush(): void {
    const { bytes, providerBytes, providerCost } = this.#metrics;
    const { provider, proxy_type, price_per_gb = 0 } = this.#exit;
    const [sent, received] = [this.#sent, this.#received];
    bytes.inc({ direction: 'sent' }, sent);
    bytes.inc({ direction: 'received' }, received);
    providerBytes.inc({ provider, proxy_type, direction: 'sent' }, sent);
    providerBytes.inc({ provider, proxy_type, direction: 'received' }, received);
    providerCost.inc({ provider, proxy_type }, ((sent + received) * price_per_gb) / 1e9);
    this.#sent = 0;
    this.#received = 0;
  }
}
