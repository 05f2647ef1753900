import type { StoredPlugin } from '../../domain/settings/plugin-settings.ts';
import type { Reader } from '../../store/store.ts';

/** What clients made of plugins, as it is now. */
export class PluginDirectory {
  readonly #read: Pick<Reader, 'storedPlugins'>;
  #known: ReadonlyMap<string, StoredPlugin> = new Map();
  #onChange: () => void = () => {};

  constructor(read: Pick<Reader, 'storedPlugins'>) {
    this.#read = read;
  }

  /** Undefined for a plugin of which clients made nothing. */
  of(pluginId: string): StoredPlugin | undefined {
    return this.#known.get(pluginId);
  }

  /** Calls back after each reading: who goes by it is there later than it. */
  whenRead(listener: () => void): void {
    this.#onChange = listener;
  }

  async reload(): Promise<void> {
    this.#known = new Map((await this.#read.storedPlugins()).map((plugin) => [plugin.pluginId, plugin]));
    this.#onChange();
  }
}
