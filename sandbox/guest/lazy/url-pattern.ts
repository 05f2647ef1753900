import { URLPattern } from 'urlpattern-polyfill/urlpattern';

/** The class of the URL Pattern Standard. */
export function create(): Record<string, unknown> {
  return { URLPattern };
}
