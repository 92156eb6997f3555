/** The schema of a migrated database as SQL that people read. */
export function schemaText(query: (statement: string) => Promise<Record<string, string>[]>): Promise<string>;
