/** What the bundler's process can be told to build, in data: its own code knows how. */
export type BuildJob = PluginJob | RuntimeJob | ChildJob;

/** A plugin, behind the import wall; all paths absolute. */
export interface PluginJob {
  kind: 'plugin';
  /** The plugins folder, without symbolic links. */
  root: string;
  modulesDir: string;
  file: string;
}

/** A file of the guest runtime, as an expression that evaluates to one of its exports. */
export interface RuntimeJob {
  kind: 'runtime';
  /** What paths in the output are relative to. */
  base: string;
  file: string;
  exported: 'boot' | 'part';
}

/** The program of a sandbox process. */
export interface ChildJob {
  kind: 'child';
  /** What paths in the output are relative to. */
  base: string;
  file: string;
}

/** A job with the number that answers to it carry. */
export interface BuildRequest {
  build: number;
  job: BuildJob;
}

/**
 * Parses what the server asks for. By hand: the process starts within an author's patience, and a schema library would
 * be half of that.
 * @throws Error when it is anything else
 */
export function parseBuildRequest(message: unknown): BuildRequest {
  const { build, job, ...more } = fieldsOf(message);
  if (typeof build !== 'number' || Object.keys(more).length > 0) throw new Error('no request for a build');
  const { kind, file, ...places } = fieldsOf(job);
  if (kind === 'plugin') {
    const { root, modulesDir, ...others } = places;
    nothing(others);
    return { build, job: { kind, file: path(file), root: path(root), modulesDir: path(modulesDir) } };
  }
  const { base, exported, ...others } = places;
  nothing(others);
  if (kind === 'child' && exported === undefined) return { build, job: { kind, file: path(file), base: path(base) } };
  if (kind !== 'runtime' || (exported !== 'boot' && exported !== 'part')) throw new Error('no such kind of build');
  return { build, job: { kind, file: path(file), base: path(base), exported } };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error('no object');
  return Object.fromEntries(Object.entries(value));
}

function path(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/')) throw new Error('no absolute path');
  return value;
}

function nothing(others: object): void {
  for (const key of Object.keys(others)) throw new Error(`unknown key ${key}`);
}
