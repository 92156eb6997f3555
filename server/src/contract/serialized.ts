// An answer that the database has already written as JSON: parsing and serializing rows again would triple the cost of a
// page of a hundred files.

export class Serialized {
  constructor(readonly json: string) {}
}
