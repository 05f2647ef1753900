import { type FSWatcher, watch } from 'node:fs';

export interface FolderWatch {
  /** Watches exactly these folders from now on. */
  follow(folders: readonly string[]): void;
  /** Safe to call twice. */
  close(): void;
}

export interface WatchTiming {
  /** Quiet time after the last event before `onChange` is called, in ms. */
  debounceMs: number;
  /** How often `onChange` is called without any event, in ms. Some file systems never report an event. */
  pollMs: number;
}

/** Calls `onChange` when something in the followed folders may have changed. Does not watch folders below them. */
export function watchFolders(timing: WatchTiming, onChange: () => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let quiet: NodeJS.Timeout | undefined;
  const poll = setInterval(onChange, timing.pollMs).unref();

  const soon = () => {
    clearTimeout(quiet);
    quiet = setTimeout(onChange, timing.debounceMs).unref();
  };
  const unfollow = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };

  return {
    follow(folders) {
      const wanted = new Set(folders);
      for (const folder of watchers.keys()) if (!wanted.has(folder)) unfollow(folder);
      for (const folder of wanted) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { persistent: false }, soon);
          watcher.on('error', () => unfollow(folder));
          watchers.set(folder, watcher);
        } catch {
          // The folder is gone again, or the system has no watches left. The poll notices the change.
        }
      }
    },
    close() {
      clearInterval(poll);
      clearTimeout(quiet);
      for (const folder of [...watchers.keys()]) unfollow(folder);
    },
  };
}
