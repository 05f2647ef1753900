import type { PluginContext } from 'isolayer';

type Run = (context: PluginContext, name: string) => Promise<unknown>;

/** The route that fits a path; `:name` stands for one part of it. */
export function findRoute(routes: Record<string, Run>, path: string): { run: Run; name: string } | undefined {
  for (const [pattern, run] of Object.entries(routes)) {
    const found = new RegExp(`^${pattern.replace(':name', '([A-Za-z0-9_-]{1,64})')}/?$`).exec(path);
    if (found !== null) return { run, name: found[1] ?? '' };
  }
  return undefined;
}
