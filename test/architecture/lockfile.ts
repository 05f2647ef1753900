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

/** The lockfile names no registry, so that it installs from any mirror of it. */
export const lockfileNamesNoRegistry: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages)
      .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
      .map(([name]) => `${path}: ${name} is tied to a download address.`),
  );

/** The lockfile knows the packages of every platform; otherwise `npm ci` fails on the platforms that are missing. */
export const lockfileKnowsAllPlatforms: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages).flatMap(([location, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isInstalled(lock, location, name))
        .map((name) => `${path}: ${location || 'the project'} wants ${name}, which has no entry.`),
    ),
  );

/** Every version is exact, in the project and in its workspaces, so that two installs are the same. */
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

/** Looks where Node would look: beside the package, then in each folder above it. */
function isInstalled(lock: Lockfile, location: string, name: string): boolean {
  const folders = location.split('/');
  return [...folders, ''].some(
    (_, index) =>
      [...folders.slice(0, folders.length - index), 'node_modules', name].filter(Boolean).join('/') in lock.packages,
  );
}
