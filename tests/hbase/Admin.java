// SPDX-License-Identifier: MIT
// Copyright the libsimidx authors

import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.util.Bytes;

/** What tests need and a gateway has no call for: `cluster DIRECTORY admin COMMAND TABLE [KEY]`. */
final class Tasks {
	public static void main(String[] argument) throws Exception {
		try (var connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
		     Admin admin = connection.getAdmin()) {
			TableName table = TableName.valueOf(argument[1]);
			switch (argument[0]) {
			case "split" -> admin.split(table, Bytes.fromHex(argument[2]));
			case "move" -> {
				for (RegionInfo region : admin.getRegions(table))
					admin.move(region.getEncodedNameAsBytes());
			}
			case "regions" -> System.out.println(admin.getRegions(table).size());
			case "flush" -> admin.flush(table);
			case "compact" -> {
				admin.flush(table);
				admin.majorCompact(table);
				Thread.sleep(2000);
				while (admin.getCompactionState(table) != CompactionState.NONE)
					Thread.sleep(200);
			}
			default -> throw new IllegalArgumentException(argument[0]);
			}
		}
	}
}
