import { type PluginContext, pluginError } from 'isolayer';
import { findRoute } from './router.ts';

/** A small service with several routes. It keeps addresses in the key-value store. */
export async function handler(context: PluginContext) {
  const found = findRoute(ROUTES, context.route);
  if (found === undefined) throw pluginError(`there is no ${context.route}`, { code: 'NOT_FOUND', status: 404 });
  return await found.run(context, found.name);
}

const ROUTES = {
  '/list': async ({ kv }: PluginContext) => ({ names: (await kv.listKeys('address:*')).map((key) => key.slice(8)) }),
  '/show/:name': async ({ kv }: PluginContext, name: string) => {
    const address = await kv.get<string>(`address:${name}`);
    if (address === null) throw pluginError(`nobody is called ${name}`, { code: 'UNKNOWN_NAME', status: 404 });
    return { name, address };
  },
  '/save/:name': async ({ kv, params, method }: PluginContext, name: string) => {
    if (method !== 'POST') throw pluginError('save is a POST', { code: 'METHOD_NOT_ALLOWED', status: 405 });
    const { address } = (params ?? {}) as { address?: unknown };
    if (typeof address !== 'string') throw pluginError('address is missing', { code: 'INVALID_PARAMS', status: 400 });
    await kv.set(`address:${name}`, address);
    return { name, address };
  },
};
