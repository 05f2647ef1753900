import { resolve } from 'node:path';
import type { Configuration } from '../config/configuration.ts';
import { systemClock } from '../domain/clock.ts';
import { createLog } from '../observability/log.ts';
import { Catalog, pluginsRoot } from '../plugin-host/catalog/catalog.ts';
import type { CatalogPlugin } from '../plugin-host/catalog/known-plugin.ts';
import { createCompiler } from '../plugin-host/compiler/compiler.ts';

const SANDBOX_DIR = resolve(import.meta.dirname, '..', '..', 'sandbox');

/** Compiles all plugins of a folder like a start. */
export async function compiledPlugins(
  cwd: string,
  { environment, variables, plugins }: Pick<Configuration, 'environment' | 'variables' | 'plugins'>,
): Promise<CatalogPlugin[]> {
  const root = await pluginsRoot(resolve(cwd, environment.PLUGINS_DIR));
  const compiler = createCompiler({ root, sandboxDir: SANDBOX_DIR });
  const log = createLog('silent');
  const catalog = new Catalog({
    entries: plugins,
    root,
    compiler,
    environment: (name: string) => variables[name],
    log,
    clock: systemClock,
    tryOut: () => false,
  });
  try {
    await catalog.refresh();
    // Waits for slow plugins, which would otherwise seem free of errors.
    await catalog.slowOnes();
    return catalog.list();
  } finally {
    await catalog.close();
    await compiler.close();
  }
}
