import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exitPlace, type LocatedExit } from '../src/browser/exit-place.ts';

const NOWHERE: LocatedExit = { country_code: 'US', region: null, city: null };
const timezoneOf = (exit: Partial<LocatedExit>) => exitPlace({ ...NOWHERE, ...exit }).timezone;
/** Degrees, without decimals. */
const whereIs = (exit: Partial<LocatedExit>) => {
  const { latitude, longitude } = exitPlace({ ...NOWHERE, ...exit }).coordinates!;
  return [Math.round(latitude), Math.round(longitude)];
};

describe('the place of an exit', () => {
  it('is its city, in the spelling of the catalogue or of a vendor', () => {
    for (const city of ['Los Angeles', 'los_angeles', 'losangeles', 'LOS ANGELES'])
      assert.equal(timezoneOf({ region: 'California', city }), 'America/Los_Angeles', city);
    assert.deepEqual(whereIs({ region: 'California', city: 'Los Angeles' }), [34, -118]);
    assert.equal(timezoneOf({ country_code: 'de', city: 'München' }), 'Europe/Berlin');
    assert.deepEqual(
      whereIs({ country_code: 'BR', city: 'sao_paulo' }),
      whereIs({ country_code: 'BR', city: 'São Paulo' }),
    );
    assert.equal(timezoneOf({ country_code: 'BR', region: 'Amazonas', city: 'Manaus' }), 'America/Manaus');
  });

  it('is the city of its region where several have the name', () => {
    assert.deepEqual(whereIs({ region: 'Maine', city: 'Portland' }), [44, -70]);
    assert.deepEqual(whereIs({ region: 'OR', city: 'Portland' }), [46, -123]);
  });

  it('is the largest city of the region for a city that is not known, else that of the country', () => {
    assert.equal(timezoneOf({ region: 'Texas', city: 'Smallville' }), 'America/Chicago');
    assert.equal(timezoneOf({ region: 'ca' }), 'America/Los_Angeles');
    assert.equal(timezoneOf({ region: 'Nowhere', city: 'Smallville' }), 'America/New_York');
    assert.equal(timezoneOf({}), 'America/New_York');
    assert.equal(timezoneOf({ country_code: 'AQ' }), 'Antarctica/McMurdo');
  });

  it('is what the exits file says, before its city', () => {
    const city = { region: 'California', city: 'Los Angeles' };
    const exit = { ...city, timezone: 'America/Denver', latitude: 39.7, longitude: -105 };
    assert.equal(timezoneOf(exit), 'America/Denver');
    assert.deepEqual(whereIs(exit), [40, -105]);
    assert.equal(timezoneOf({ ...city, timezone: undefined }), 'America/Los_Angeles');
    assert.deepEqual(whereIs({ ...exit, longitude: undefined }), [34, -118], 'half a place is none');
  });

  it('has a timezone that browsers know, for every city', async () => {
    const { default: cityTimezones } = await import('city-timezones');
    const countries = cityTimezones.cityMapping.filter(({ iso2 }) => /^[A-Z]{2}$/.test(iso2));
    const known = new Set<string>();
    for (const { iso2, province, city } of countries)
      known.add(exitPlace({ country_code: iso2, region: province, city }).timezone);
    assert.ok(known.size > 200);
    for (const timeZone of known) assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone }), timeZone);
  });
});
