import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';

const CATALOGUE_READ_AT = '2026-01-02T03:04:05.000Z';

/** Two countries; the United States have both pools, Portugal has no mobile one. */
export const CATALOGUE: Catalogue = {
  refreshed_at: CATALOGUE_READ_AT,
  pools: [
    {
      country_code: 'US',
      proxy_type: 'residential',
      regions: ['California', 'Texas', 'New York', 'Florida', 'Ohio', 'Nevada'],
      cities: ['Los Angeles', 'Houston', 'New York City'],
      isps: ['Comcast', 'Verizon Fios'],
      cities_by_region: { California: ['Los Angeles'], Texas: ['Houston'], 'New York': ['New York City'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
    {
      country_code: 'US',
      proxy_type: 'mobile',
      regions: ['California'],
      cities: ['Los Angeles'],
      isps: ['T-Mobile'],
      cities_by_region: { California: ['Los Angeles'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
    {
      country_code: 'PT',
      proxy_type: 'residential',
      regions: ['Lisboa'],
      cities: ['Lisboa', 'Sintra'],
      isps: ['MEO'],
      cities_by_region: { Lisboa: ['Lisboa', 'Sintra'] },
      refreshed_at: CATALOGUE_READ_AT,
    },
  ],
};
