//! Parquet tables of plain columns: floats, integers, booleans, text for the label. Nested and missing values are
//! refused.

use crate::Budget;
use crate::columns::{Builder, Table, TableError, TableProblem, check_size};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::record::Field;
use std::fs::File;
use std::path::Path;

/// Reads the table whose labels stand in the column `label`.
pub fn read(path: &Path, label: &str) -> Result<Table, TableError> {
    let file = File::open(path).map_err(|error| TableProblem::from(error).of(path))?;
    parse(file, label).map_err(|problem| problem.of(path))
}

/// The table that the content of a file is.
pub fn parse<R: ChunkReader + 'static>(content: R, label: &str) -> Result<Table, TableProblem> {
    let wrong = |error: &ParquetError| TableProblem::Kind {
        kind: "a Parquet file",
        message: error.to_string(),
    };
    let budget = Budget::of_size(content.len());
    let reader = SerializedFileReader::new(content).map_err(|error| wrong(&error))?;
    let metadata = reader.metadata().file_metadata();
    let schema = metadata.schema().get_fields();
    let columns: Vec<String> = schema.iter().map(|field| field.name().to_owned()).collect();
    let n_rows = u64::try_from(metadata.num_rows()).unwrap_or(u64::MAX);
    check_size(n_rows, columns.len())?;
    let mut builder = Builder::new(columns, label, &budget)?;
    let rows = reader.get_row_iter(None).map_err(|error| wrong(&error))?;
    for (row, record) in (1..).zip(rows) {
        let record =
            record.map_err(|error| TableProblem::place(format!("row {row}"), error.to_string()))?;
        let cells: Result<Vec<String>, TableProblem> = record
            .get_column_iter()
            .map(|(column, field)| text(row, column, field))
            .collect();
        builder.row(cells?.iter().map(String::as_str))?;
    }
    builder.finish()
}

fn text(row: usize, column: &str, field: &Field) -> Result<String, TableProblem> {
    let refused = |message: &str| {
        Err(TableProblem::Cell {
            row,
            column: column.to_owned(),
            message: message.to_owned(),
        })
    };
    Ok(match field {
        Field::Bool(value) => u8::from(*value).to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Str(value) => value.clone(),
        Field::Bytes(value) => String::from_utf8_lossy(value.data()).into_owned(),
        Field::Null => return refused("the value is missing"),
        _ => return refused("the value is neither a number nor text"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plain_value_is_a_cell() {
        let cases = [
            (Field::Bool(true), "1"),
            (Field::Bool(false), "0"),
            (Field::Byte(-7), "-7"),
            (Field::Short(-300), "-300"),
            (Field::Int(-70_000), "-70000"),
            (Field::Long(i64::MIN), "-9223372036854775808"),
            (Field::UByte(200), "200"),
            (Field::UShort(60_000), "60000"),
            (Field::UInt(4_000_000_000), "4000000000"),
            (Field::ULong(u64::MAX), "18446744073709551615"),
            (Field::Float(0.1), "0.1"),
            (Field::Double(0.1), "0.1"),
            (Field::Str("dog".to_owned()), "dog"),
            (Field::Bytes(vec![b'c', b'a', b't'].into()), "cat"),
        ];
        for (field, expected) in cases {
            assert_eq!(text(1, "x", &field).unwrap(), expected);
        }
        for (field, expected) in [
            (Field::Null, "row 3, column 'x': the value is missing"),
            (
                Field::Date(7),
                "row 3, column 'x': the value is neither a number nor text",
            ),
        ] {
            assert_eq!(text(3, "x", &field).unwrap_err().to_string(), expected);
        }
    }
}
