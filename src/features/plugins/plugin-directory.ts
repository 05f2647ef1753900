import type { StoreReader } from '../../store/store.ts';
import type { StoredPlugin } from './records/plugin-settings.ts';

/** The current changes that clients made to plugins. */
export class PluginDirectory {
  readonly #read: Pick<StoreReader, 'storedPlugins'>;
  #known: ReadonlyMap<string, StoredPlugin> = new Map();
  #onChange: () => void = () => {};

  constructor(read: Pick<StoreReader, 'storedPlugins'>) {
    this.#read = read;
  }

  /** Undefined for a plugin that clients did not change. */
  of(pluginId: string): StoredPlugin | undefined {
    return this.#known.get(pluginId);
  }

  /** Calls the listener after each reload, once the new settings are in place. */
  whenRead(listener: () => void): void {
    this.#onChange = listener;
  }

  async reload(): Promise<void> {
    this.#known = new Map((await this.#read.storedPlugins()).map((plugin) => [plugin.pluginId, plugin]));
    this.#onChange();
  }
}
