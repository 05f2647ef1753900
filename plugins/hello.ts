import type { PluginContext } from '@openzeppelin/relayer-sdk';

/** Answers with the request's own parameters, route and method: `POST /api/v1/plugins/hello/call`. */
export async function handler({ params, route, method }: PluginContext) {
  const { name = 'world' } = (params ?? {}) as { name?: string };
  console.info(`greeting ${name}`);
  return { greeting: `Hello, ${name}!`, route, method };
}
