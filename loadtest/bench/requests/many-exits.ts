import { iso31661 } from 'iso-3166';

/** Places of each country and kind of exit. */
const PLACES = 60;
const NAME_LENGTH = 60;

const name = (start: string): string => start.padEnd(NAME_LENGTH, 'x');

/** An exits file with residential and mobile exits in every country, each in many regions, cities and networks: a catalogue of several megabytes. */
export function manyExits(): object {
  const exits = iso31661.flatMap(({ alpha2: country_code }) =>
    (['residential', 'mobile'] as const).flatMap((proxy_type) =>
      Array.from({ length: PLACES }, (_, at) => ({
        ...{
          id: `${country_code}-${proxy_type}-${at}`,
          country_code,
          proxy_type,
          pool_size: at + 1,
          provider: 'direct',
        },
        ...{ region: name(`region ${at % 20}`), city: name(`city ${at}`), isp: name(`network ${at % 30}`) },
      })),
    ),
  );
  return { exits };
}
