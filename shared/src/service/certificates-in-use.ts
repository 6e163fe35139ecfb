import { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';

/**
 * The certificates that listeners and clients of this process show, by the paths of their files: each returns its PEM.
 */
const inUse = new Map<string, () => string>();

/** Counts the certificate of the file `path` as one in use. Returns the function that ends it. */
export function useCertificate(path: string, read: () => string): () => void {
  inUse.set(path, read);
  return () => {
    if (inUse.get(path) === read) inUse.delete(path);
  };
}

/** Reports at each scrape how long the certificates in use are still valid. */
export function measureCertificates(registry: Registry): void {
  new Gauge({
    name: 'adsweep_certificate_validity_left_ratio',
    help: 'Share of the validity that a certificate in use, by the path of its file, has left; 0 or less: it has expired.',
    labelNames: ['certificate'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [certificate, read] of inUse) {
        const left = validityLeft(read(), Date.now());
        if (left !== null) this.set({ certificate }, left);
      }
    },
  });
}

/**
 * The share of the validity of the first certificate in `pem` that is left at `now` (ms), negative after its end; null:
 * there is none. Pure.
 */
export function validityLeft(pem: string, now: number): number | null {
  try {
    const { validFromDate: from, validToDate: to } = new X509Certificate(pem);
    return (to.getTime() - now) / (to.getTime() - from.getTime());
  } catch {
    return null;
  }
}
