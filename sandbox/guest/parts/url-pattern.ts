import { URLPattern } from 'urlpattern-polyfill/urlpattern';

/** The class of the URL Pattern Standard. */
export function part(): Record<string, unknown> {
  return { URLPattern };
}
