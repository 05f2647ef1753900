import { closeSync, fstatSync } from 'node:fs';

/** The first descriptor that a child should not have. Those below are its streams, its channel and its journal. */
const FIRST = 5;
/** The last descriptor to look at. The server's own parent may have left any open; none was ever seen beyond this. */
const LAST = 255;

/**
 * Closes files, folders, devices and sockets that this process inherited: Node passes on what its own parent left open.
 * Node's own descriptors are pipes and kernel objects, and stay open.
 */
export function closeInherited(): void {
  for (let fd = FIRST; fd <= LAST; fd += 1) {
    try {
      const stat = fstatSync(fd);
      if (stat.isFile() || stat.isDirectory() || stat.isSocket() || isDevice(stat)) closeSync(fd);
    } catch {
      // It is not open.
    }
  }
}

function isDevice(stat: ReturnType<typeof fstatSync>): boolean {
  return stat.isCharacterDevice() || stat.isBlockDevice();
}
