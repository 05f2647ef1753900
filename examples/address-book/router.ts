import type { PluginContext } from 'isolayer';

type Run = (context: PluginContext, name: string) => Promise<unknown>;

/** Finds the route that matches a path. `:name` in a route stands for one part of the path. */
export function findRoute(routes: Record<string, Run>, path: string): { run: Run; name: string } | undefined {
  for (const [pattern, run] of Object.entries(routes)) {
    const found = new RegExp(`^${pattern.replace(':name', '([A-Za-z0-9_-]{1,64})')}/?$`).exec(path);
    if (found !== null) return { run, name: found[1] ?? '' };
  }
  return undefined;
}
