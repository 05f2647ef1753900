import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a file without a name. Other processes can open it by its descriptor under `/proc`.
 * @returns the descriptor
 */
export function unnamedFile(bytes: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'isolayer-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, bytes, { mode: 0o400 });
    return openSync(file, 'r');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
