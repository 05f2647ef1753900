import type { Rule } from './rule.ts';

interface Lockfile {
  readonly packages: Record<
    string,
    {
      readonly resolved?: string;
      readonly link?: boolean;
      readonly hasInstallScript?: boolean;
      readonly optionalDependencies?: Record<string, string>;
    }
  >;
}

/** Finds registry URLs in a lockfile. Without them, it installs from any mirror. */
export const lockfileNamesNoRegistry: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages)
      .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
      .map(([name]) => `${path}: ${name} is tied to a download address.`),
  );

/**
 * Finds optional packages of other platforms that a lockfile lacks. Without them, `npm ci` fails on those platforms.
 */
export const lockfileKnowsAllPlatforms: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages).flatMap(([location, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isInstalled(lock, location, name))
        .map((name) => `${path}: ${location || 'the project'} wants ${name}, which has no entry.`),
    ),
  );

/** Finds versions that are not exact, in the project and its workspaces. Two installs must give the same packages. */
export const exactVersions: Rule = (files) =>
  files
    .filter(({ path }) => path.endsWith('package.json'))
    .flatMap(({ path, text }) => {
      const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
      return ['dependencies', 'optionalDependencies', 'devDependencies']
        .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
        .filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} is "${version}", not one exact version.`);
    });

function lockfiles(files: Parameters<Rule>[0]): { path: string; lock: Lockfile }[] {
  return files
    .filter(({ path }) => path.endsWith('package-lock.json'))
    .map(({ path, text }) => ({ path, lock: JSON.parse(text) as Lockfile }));
}

/** Looks where Node looks: in the package's own folder, then in each folder above it. */
function isInstalled(lock: Lockfile, location: string, name: string): boolean {
  const folders = location.split('/');
  return [...folders, ''].some(
    (_, index) =>
      [...folders.slice(0, folders.length - index), 'node_modules', name].filter(Boolean).join('/') in lock.packages,
  );
}
