import { createUrlClass } from '../globals/url/url.ts';
import { URLSearchParams } from '../globals/url/url-search-params.ts';
import type { PartWorld } from '../part-world.ts';

/** The classes of the URL Standard. */
export function part({ urls }: PartWorld): Record<string, unknown> {
  return { URL: createUrlClass(urls), URLSearchParams };
}
