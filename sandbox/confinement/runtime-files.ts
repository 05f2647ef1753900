import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Files that the loader of shared libraries and OpenSSL read at the start. Neither holds a secret. */
const SETTINGS = ['/etc/ld.so.cache', '/etc/ssl/openssl.cnf'];

/** Absolute paths that this node program needs to start: itself, the folders of its libraries, and settings. */
export function runtimeFiles(): string[] {
  const folders = sharedLibraries().map((file) => dirname(file));
  return [process.execPath, ...new Set(folders), ...SETTINGS.filter((file) => existsSync(file))];
}

function sharedLibraries(): string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects?: unknown };
  if (!Array.isArray(sharedObjects)) return [];
  // The kernel's own object has no file.
  return sharedObjects.filter((file): file is string => typeof file === 'string' && existsSync(file));
}
